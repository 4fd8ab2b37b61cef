"""`lakeward notebook PATH`: a notebook, cell by cell; its outcome as `.ipynb` and HTML."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.options import (
    GivenPath,
    bundle_options,
    cold_option,
    entered_environment_options,
    json_option,
    mapping_option,
    mount_option,
    runtime_option,
    schema_options,
    verbose_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lakeward.cli.output_streams import Streams
    from lakeward.notebooks import CellRecord, NotebookRun


@click.command(short_help="Run a notebook.")
@click.argument("path", metavar="PATH", type=GivenPath())
@mapping_option("--param", "parameters", help="Value of a widget.")
@bundle_options
@schema_options
@mount_option
@runtime_option
@entered_environment_options
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder for the outcome; that of the target's state when left out.",
)
@click.option("--allow-sh", is_flag=True, help="Let %sh cells run.")
@json_option
@cold_option
@verbose_option
def notebook(
    path: Path,
    parameters: dict[str, str],
    target: str | None,
    variables: dict[str, str],
    catalog: str | None,
    schema: str | None,
    output: Path | None,
    allow_sh: bool,
    as_json: bool,
) -> int:
    """Run the notebook PATH: a Python or SQL notebook as source file, or an .ipynb.

    What cells print goes to stderr as they run; every cell's output is in the .ipynb and the HTML page that
    are written. The value of dbutils.notebook.exit is printed last.
    """
    from lakeward.cli.command_context import find_context
    from lakeward.cli.execution import show_hint
    from lakeward.cli.output_streams import redirect_output

    context = find_context(target, variables, needs_bundle=False)
    settings = context.settings.with_(
        catalog=catalog or context.settings.catalog, schema=schema or context.settings.schema
    )
    chosen = () if catalog is None and schema is None else (settings.catalog, settings.schema)
    root = context.bundle.root if context.bundle else settings.root
    from lakeward.cli.workspace_on_demand import workspace_on_demand

    with (
        redirect_output() as streams,
        workspace_on_demand(settings, streams.to_stderr, context.bundle),
    ):
        from lakeward import notebooks
        from lakeward.dbutils import Context, Environment
        from lakeward.session import create_and_enter_schema, session

        def announce(cell: CellRecord, count: int) -> None:
            streams.settle()
            streams.to_stderr(f"cell {cell.number}/{count} · {cell.language}\n")

        def announce_wait(queries: Sequence[str]) -> None:
            streams.settle()
            streams.to_stderr(f"waiting for streaming queries: {', '.join(queries)} (Ctrl-C ends them)\n")

        notebooks.load_notebook(path)
        spark = session(settings)
        if chosen:
            create_and_enter_schema(spark, *chosen)
        environment = Environment(settings=lambda: settings, context=Context.of(settings))
        run = notebooks.run(
            path,
            spark=spark,
            environment=environment,
            parameters=parameters,
            root=root,
            default_schema=chosen,
            allow_shell=allow_sh,
            on_cell=announce,
            on_wait=announce_wait,
        )
        run = notebooks.write(run, output or settings.state / "notebooks")
        streams.settle()
        show(run, streams, as_json=as_json)
        show_hint(str(run.error or ""), settings, streams)
    return 0 if run.state == "COMPLETED" else 1


def show(run: NotebookRun, streams: Streams, *, as_json: bool) -> None:
    """Print the outcome on stdout, its error on stderr; the exit value comes last."""
    from lakeward.cli.failures import error_head
    from lakeward.dbutils import redact, redactor

    if as_json:
        json.dump(redactor().value(run.as_json()), streams.out, ensure_ascii=False)
        streams.out.write("\n")
        return
    if run.error is not None:
        streams.to_stderr(f"{error_head(streams.err)} {run.error}\n")
    streams.out.write(f"{run.state} in {run.seconds:.1f} s · {short_page_path(run.files)}\n")
    if run.exit_value is not None:
        streams.out.write(f"{redact(run.exit_value)}\n")


def short_page_path(files: Any) -> str:
    """Return the outcome's page, relative to the working folder where it is below it."""
    page = Path(files["html"])
    return str(page.relative_to(Path.cwd()) if page.is_relative_to(Path.cwd()) else page)
