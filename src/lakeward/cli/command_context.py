"""From the working folder and `-t` to a bundle, if there is one, and the settings of the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli import failures
from lakeward.errors import BundleError, UsageError
from lakeward.private_folders import private_folder
from lakeward.suggestions import close_matches

if TYPE_CHECKING:
    from lakeward.bundle import Bundle
    from lakeward.session import Settings


@dataclass(frozen=True)
class CommandContext:
    """What a command works on: the bundle of this folder or none, and the settings of the session."""

    bundle: Bundle | None
    settings: Settings

    def require_bundle(self, name: str) -> Bundle:
        """Return the bundle; raise `UsageError` if no bundle exists to find `name` in."""
        if self.bundle is None:
            raise no_bundle(
                f"`{name}` was requested" if name else "a job or pipeline was requested",
                "run files with `lakeward pipeline PATH` or `lakeward notebook PATH`",
            )
        return self.bundle

    @property
    def default_schema(self) -> tuple[str, str]:
        """Return catalog and schema of short names: those of the bundle's first pipeline, if it has one."""
        first = next(iter(self.bundle.pipelines.values()), None) if self.bundle else None
        return home_of_pipeline(first or {}, self.settings)


def with_deployed_files(context: CommandContext) -> CommandContext:
    """Return the context of a run that deploys nothing: `${workspace.file_path}` is the bundle's folder.

    Bundles hand it to their code, in the configuration of a pipeline or in parameters. A mount of it wins.
    """
    if context.bundle is None:
        return context
    files = context.bundle.files_path
    if not files.startswith("/Workspace/"):
        return context
    mounts = {files.rstrip("/"): str(context.bundle.root), **dict(context.settings.mounts)}
    return CommandContext(context.bundle, context.settings.with_(mounts=tuple(mounts.items())))


def no_bundle(request: str, otherwise: str) -> UsageError:
    return UsageError(
        "BUNDLE_NOT_FOUND",
        f"{request}, but neither {Path.cwd()} nor a folder above it has a databricks.yml.",
        next_step=f"Change to the folder of a bundle, or {otherwise}.",
    )


def find_context(
    target: str | None = None,
    variables: Mapping[str, str] | None = None,
    *,
    key: str | None = None,
    needs_bundle: bool = True,
) -> CommandContext:
    """Return the context of a command in this folder: target `local` and `main.default` outside a bundle.

    The runtime is that of the bundle's job or pipeline `key`, else the bundle's. A command that does not need
    a bundle runs without one that cannot be read, with a warning, unless `target` or `variables` are given.

    Raises `BundleError` for a bundle that cannot be read or a target that it has not, `UsageError` for a
    target outside any bundle.
    """
    from lakeward.bundle import find_root, load
    from lakeward.session import Settings

    root = find_root(Path.cwd())
    bundle = None
    if root is not None:
        try:
            bundle = load(root, target, variables or {})
        except BundleError as error:
            if needs_bundle or target or variables:
                raise
            click.echo(
                f"warning: {error}\n  → The bundle is left out: the lakehouse is `local`, as without one.",
                err=True,
            )
    if root is None or bundle is None:
        if target not in (None, "local"):
            raise no_bundle(
                f"the target `{target}` was requested", "leave -t out: the target is `local` then"
            )
        if variables:
            raise no_bundle("--var was given", "leave it out")
        context = CommandContext(None, Settings.here(Path.cwd()))
    else:
        settings = Settings.here(root, target=bundle.target, profile=runtime(bundle, key))
        context = CommandContext(bundle, settings)
    failures.state_folder.set(context.settings.state)
    if context.settings.state.is_dir():
        # Earlier versions let other users of the machine read it.
        private_folder(context.settings.state)
    return context


def runtime(bundle: Bundle, key: str | None) -> str | None:
    """Return the runtime that the bundle names, if it is one that is known here."""
    from lakeward.bundle import runtime_of
    from lakeward.session import find_profile

    found = find_profile(runtime_of(bundle, key) or "")
    return found.name if found else None


def job_of_file(
    argument: str, target: str | None, variables: Mapping[str, str] | None
) -> tuple[CommandContext, str] | None:
    """Return the context and the key of a job that `argument` names in a file (`jobs.yml:nightly`).

    None when `argument` is a key, not a file. The state is this folder's, as for everything without a bundle.
    Raises `BundleError` for a file that cannot be read, `UsageError` for what only a bundle has.
    """
    from lakeward.bundle import is_job_file, load_jobs, only_job
    from lakeward.session import Settings

    if not is_job_file(argument):
        return None
    for option, value in (("-t", target), ("--var", variables)):
        if value:
            raise UsageError(
                "OPTION_NEEDS_BUNDLE",
                f"{option} was given, and {argument} is a file: only a bundle has targets and variables.",
                next_step=f"Leave {option} out, or name a job of the bundle by its key.",
            )
    name, key = argument, None
    if not Path(argument).exists() and not is_job_file(argument.rpartition(":")[2]):
        name, _, key = argument.rpartition(":")
    settings = Settings.here(Path.cwd())
    bundle = load_jobs(Path(name), user=settings.user)
    failures.state_folder.set(settings.state)
    job = only_job(bundle, name, key)
    return CommandContext(bundle, Settings.here(Path.cwd(), profile=runtime(bundle, job))), job


def home_of_pipeline(pipeline: Mapping[str, Any], settings: Settings) -> tuple[str, str]:
    """Return the catalog and the schema that a resolved pipeline writes to."""
    catalog = pipeline.get("catalog") or settings.catalog
    schema = pipeline.get("schema") or pipeline.get("target") or settings.schema
    return str(catalog), str(schema)


def require_path(path: Path) -> None:
    """Raise `UsageError` for a path that does not exist; the message names where it was looked for."""
    if not path.exists():
        siblings = (
            [each.name for each in path.absolute().parent.iterdir()]
            if path.absolute().parent.is_dir()
            else []
        )
        meant = close_matches(path.name, siblings)
        raise UsageError(
            "PATH_NOT_FOUND",
            f"There is no file or folder {path} in {Path.cwd()}.",
            next_step=f"Did you mean {' or '.join(str(path.parent / name) for name in meant)}?"
            if meant
            else None,
        )
