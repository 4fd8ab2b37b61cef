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


@click.command()
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=GivenPath())
@click.option("--catalog", default="main", show_default=True, help="Catalog that the datasets are in.")
@click.option("--schema", default="default", show_default=True, help="Schema that the datasets are in.")
@mapping_option("--conf", "configuration", help="Setting that the files read with spark.conf.get.")
@mount_option
@runtime_option
@entered_environment_options
@click.option("--root", type=click.Path(path_type=Path), help="Folder that the files import from.")
@watch_option
@refresh_options
def pipeline(
    paths: tuple[Path, ...],
    catalog: str,
    schema: str,
    configuration: dict[str, str],
    root: Path | None,
    watch: bool,
    as_json: bool,
    continuous: bool,
    **flags: Unpack[RefreshOptions],
) -> int:
    """Run pipeline files: each PATH is a file, or a folder with all the sources below it."""
    from lakeward.cli import failures, next_steps
    from lakeward.cli.command_context import require_path
    from lakeward.cli.execution import RunDisplay, execute
    from lakeward.session import Settings

    for path in (*paths, *([root] if root else [])):
        require_path(path)
    settings = Settings.here(catalog=catalog, schema=schema)
    failures.state_folder.set(settings.state)
    name = state_name(paths, settings.root, f"{catalog}.{schema}")

    def work(on_event: Watcher) -> Update:
        from lakeward import pipelines

        options = pipelines.UpdateOptions(
            name=name,
            catalog=catalog,
            schema=schema,
            configuration=configuration,
            root=root,
            on_event=on_event,
            continuous=continuous,
            **flags,
        )
        return pipelines.run(paths, options, settings=settings)

    def next_commands(update: Update | JobRun) -> list[str]:
        prefix = "" if (catalog, schema) == ("main", "default") else f"{catalog}.{schema}."
        return next_steps.after(update.datasets, prefix=prefix, target=None, events_of=name)

    display = RunDisplay(
        title=" ".join(map(str, paths)),
        settings=settings,
        as_json=as_json,
        next_commands=next_commands,
        pipeline=None if flags["dry_run"] else name,
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
