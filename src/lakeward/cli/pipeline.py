"""`lakeward pipeline PATH…`: pipeline files without a bundle."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeward.cli.options import (
    GivenPath,
    RefreshOptions,
    entered_environment_options,
    mapping_option,
    mappings_option,
    mount_option,
    refresh_options,
    runtime_option,
    watch_option,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from lakeward.cli.progress_display import Watcher
    from lakeward.jobs import JobRun
    from lakeward.pipelines import Update


@click.command(short_help="Run the files of a pipeline, without a bundle.")
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=GivenPath())
@click.option("-t", "--target", metavar="T", help="Target of the bundle in this folder; none when left out.")
@mappings_option("--var", "variables", help="Value of a bundle variable.")
@click.option(
    "--catalog",
    help="Catalog that the datasets are in.  [default: the project's, or main; with -t the target's]",
)
@click.option("--schema", help="Schema that the datasets are in.  [default: default; with -t the target's]")
@mapping_option("--conf", "configuration", help="Setting that the files read with spark.conf.get.")
@mount_option
@runtime_option
@entered_environment_options
@click.option("--root", type=GivenPath(), help="Folder that the files import from.")
@watch_option
@refresh_options
def pipeline(
    paths: tuple[Path, ...],
    target: str | None,
    variables: dict[str, str],
    catalog: str | None,
    schema: str | None,
    configuration: dict[str, str],
    root: Path | None,
    watch: bool,
    as_json: bool,
    continuous: bool,
    **flags: Unpack[RefreshOptions],
) -> int:
    """Run pipeline files: each PATH is a file, or a folder with all the sources below it.

    Without -t they run outside of any bundle, in the lakehouse `local`. With -t they run in the lakehouse of
    that target of the bundle in this folder, in catalog and schema of its first pipeline, with its runtime.
    """
    from lakeward.cli import failures, next_steps
    from lakeward.cli.command_context import find_context, require_path
    from lakeward.cli.execution import RunDisplay, execute
    from lakeward.session import Settings

    for path in (*paths, *([root] if root else [])):
        require_path(path)
    if target is None and not variables:
        settings = Settings.here(catalog=catalog, schema=schema or "default")
        home = settings.catalog, settings.schema
        failures.state_folder.set(settings.state)
    else:
        context = find_context(target, variables)
        first = context.default_schema
        home = catalog or first[0], schema or first[1]
        settings = context.settings.with_(catalog=home[0], schema=home[1])
    name = state_name(paths, settings.root, ".".join(home))

    def work(on_event: Watcher) -> Update:
        from lakeward import pipelines

        options = pipelines.UpdateOptions(
            name=name,
            catalog=home[0],
            schema=home[1],
            configuration=configuration,
            root=root,
            on_event=on_event,
            continuous=continuous,
            **flags,
        )
        return pipelines.run(paths, options, settings=settings)

    def next_commands(update: Update | JobRun) -> list[str]:
        prefix = "" if home == (Settings.here().catalog, "default") else f"{'.'.join(home)}."
        return next_steps.next_commands(update.datasets, prefix=prefix, target=target, events_of=name)

    display = RunDisplay(
        title=" ".join(map(str, paths)),
        settings=settings,
        as_json=as_json,
        next_commands=next_commands,
        reported=lambda _: None if flags["dry_run"] else name,
        is_run=not flags["dry_run"],
        watched=[name] if watch else None,
    )
    return execute(work, display)


def state_name(paths: Sequence[Path], root: Path, home: str) -> str:
    """Return the name under which the state of these paths is kept, the same at every run.

    It comes from what the paths have in common, so that a file that is added or the order of the
    arguments does not reset the streams; another catalog or schema does.
    """
    common = Path(os.path.commonpath([path.resolve() for path in paths]))
    try:
        parts = common.with_suffix("").relative_to(root.resolve()).parts
    except ValueError:
        parts = (common.stem, hashlib.sha256(str(common).encode()).hexdigest()[:8])
    name = "-".join(parts) or "pipeline"
    return name if home == "main.default" else f"{name}@{home}"
