"""`lakeward sql`: statements from -e, a file, standard input or a prompt."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeward.cli.options import (
    GivenPath,
    bundle_options,
    cold_option,
    entered_environment_options,
    mapping_option,
    mount_option,
    runtime_option,
    schema_options,
    verbose_option,
)
from lakeward.errors import UsageError

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.key_binding import KeyPressEvent
    from pyspark.sql import SparkSession

    from lakeward.cli.output_streams import Streams
    from lakeward.session import Settings

FORMATS = ("table", "json", "csv")


_EXIT_COMMANDS = ("exit", "quit", "exit;", "quit;")


@dataclass(frozen=True)
class StartSchema:
    """The schema that statements begin in.

    It is created if the user has chosen it. The default is not: a CREATE SCHEMA of the user would fail, and
    code that lacks one would run.
    """

    name: str
    is_chosen: bool


@click.command(
    context_settings={"allow_extra_args": True}, short_help="Run SQL statements, or open a prompt."
)
@click.pass_context
@bundle_options
@schema_options
@mount_option
@runtime_option
@entered_environment_options
@click.option("-e", "texts", metavar="SQL", multiple=True, help="Statements to run, separated by semicolons.")
@click.option("-f", "file", metavar="FILE", type=GivenPath(), help="File with the statements.")
@mapping_option("--param", "parameters", help="Value of a parameter, `:K` in the statements.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@cold_option
@verbose_option
def sql(
    ctx: click.Context,
    target: str | None,
    variables: dict[str, str],
    catalog: str | None,
    schema: str | None,
    texts: tuple[str, ...],
    file: Path | None,
    parameters: dict[str, str],
    form: str,
) -> int:
    """Query the tables of a target; a prompt when neither -e nor -f is given.

    Without --catalog and --schema it starts in those of the target's first pipeline, once they exist. `json`
    is one array of objects and `csv` quotes as RFC 4180, for each statement that returns rows.
    """
    from lakeward.cli.command_context import find_context
    from lakeward.sql import split

    refuse_arguments(ctx)
    text = statement_text(texts, file)
    context = find_context(target, variables, needs_bundle=False)
    first = context.default_schema
    settings = context.settings.with_(catalog=catalog or first[0])
    start = StartSchema(schema or first[1], is_chosen=catalog is not None or schema is not None)
    if text is None:
        return run_prompt(settings, form, start, parameters)
    return run_all(split(text), settings, form, start, parameters)


def refuse_arguments(ctx: click.Context) -> None:
    """Name the option that a file or a statement without one belongs to."""
    if not ctx.args:
        return
    first = ctx.args[0]
    option = f"-f {first}" if first.lower().endswith(".sql") else '-e "select 1"'
    raise click.UsageError(
        f"Got unexpected extra argument ({first}); -f takes a file, -e statements in quotes: {option}", ctx
    )


def statement_text(texts: tuple[str, ...], file: Path | None) -> str | None:
    """Return the statements of the command line, the file or the pipe; None asks for a prompt."""
    if texts and file:
        raise UsageError("TWO_SOURCES", "Both -e and -f were given.", next_step="Give one of them.")
    if texts:
        return ";\n".join(texts)
    if file:
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise UsageError("FILE_NOT_READABLE", f"The file {file} cannot be read: {reason}.") from None
    return None if sys.stdin.isatty() else sys.stdin.read()


def run_all(
    statements: list[str], settings: Settings, form: str, start: StartSchema, parameters: Mapping[str, str]
) -> int:
    """Run the statements in order, beginning in `start`, and stop at the first that fails; the exit code."""
    from lakeward.cli.output_streams import redirect_output

    if not statements:
        raise UsageError(
            "NO_STATEMENT", "There is no SQL statement to run.", next_step='Try -e "select 1" or -f FILE.'
        )
    with redirect_output() as streams:
        with startup_spinner(streams):
            spark = warehouse_session(settings, start)
        for statement in statements:
            try:
                run_one(spark, statement, form, streams, parameters)
            except Exception as error:  # noqa: BLE001  # print_error raises what is not the statement's
                print_error(error, statement, spark, settings, streams)
                return 1
    return 0


def print_error(
    error: Exception, statement: str, spark: SparkSession, settings: Settings, streams: Streams
) -> None:
    """Print on stderr what a statement of the user failed with; any other error is raised again."""
    from lakeward.cli import spark_errors
    from lakeward.cli.execution import show_hint
    from lakeward.cli.failures import error_head
    from lakeward.sql import unbound_parameters

    message = spark_errors.error_message(error, spark)
    if message is None:
        raise error
    if names := unbound_parameters(statement, message):
        message = f"[UNBOUND_SQL_PARAMETER] The statement reads {', '.join(f':{name}' for name in names)}."
        options = " ".join(f"--param {name}=…" for name in names)
        streams.to_stderr(f"{error_head(streams.err)} {message}\n  → Give values with {options}.\n")
        return
    streams.to_stderr(f"{error_head(streams.err)} {message}\n")
    show_hint(message, settings, streams)


def warehouse_session(settings: Settings, start: StartSchema) -> SparkSession:
    """Return a session that runs statements as a SQL warehouse does, and begins in `start`."""
    from lakeward.session import create_and_enter_schema, enter_schema, session
    from lakeward.sql import WAREHOUSE_SESSION

    spark = session(settings)
    spark.conf.set(WAREHOUSE_SESSION, "true")
    if start.is_chosen:
        create_and_enter_schema(spark, settings.catalog, start.name)
    else:
        enter_schema(spark, start.name)
    return spark


def startup_spinner(streams: Streams) -> AbstractContextManager[object]:
    """Return a spinner on a terminal, nothing elsewhere: a query's stderr is for its errors."""
    if not streams.err.isatty() or os.environ.get("TERM") == "dumb":
        return nullcontext()
    from rich.console import Console

    return Console(file=streams.err).status("starting Spark …")


def run_one(
    spark: SparkSession, statement: str, form: str, streams: Streams, parameters: Mapping[str, str]
) -> None:
    """Run one statement and print what it returns; an error of Spark's passes through."""
    from lakeward.cli import results
    from lakeward.sql import time_limit

    began = time.monotonic()
    with time_limit(spark):
        frame = spark.sql(statement, args=dict(parameters)) if parameters else spark.sql(statement)
        if form == "table":
            width = os.get_terminal_size(streams.out.fileno()).columns if streams.out.isatty() else None
            results.as_table(frame, streams.out, width=width, clock=time.monotonic, began=began)
        elif frame.columns:
            (results.as_json if form == "json" else results.as_csv)(frame, streams.out)
    streams.out.flush()


def run_prompt(settings: Settings, form: str, start: StartSchema, parameters: Mapping[str, str]) -> int:
    """Read statements and print their results until `exit` or Ctrl-D; the exit code.

    Ctrl-C leaves the statement that is being typed, or stops the one that runs.
    """
    from lakeward.cli.output_streams import redirect_output
    from lakeward.sql import split

    session = prompt_session(settings)
    with redirect_output() as streams, startup_spinner(streams):
        spark = warehouse_session(settings, start)
    where = f"{settings.target} · {settings.catalog}.{spark.catalog.currentDatabase()}"
    print(f"{where} · statements end with ; · exit or Ctrl-D leaves")
    while True:
        try:
            text = session.prompt(f"{settings.target}> ", completer=completer(spark))
        except KeyboardInterrupt:
            continue
        except EOFError:
            return 0
        if text.strip().lower() in _EXIT_COMMANDS:
            return 0
        for statement in split(text):
            if not _run_statement(spark, statement, form, settings, parameters):
                break


def _run_statement(
    spark: SparkSession, statement: str, form: str, settings: Settings, parameters: Mapping[str, str]
) -> bool:
    """Run a statement; return False if it failed or was canceled, after a message."""
    from lakeward.cli.output_streams import redirect_output

    with redirect_output() as streams:
        try:
            run_one(spark, statement, form, streams, parameters)
        except KeyboardInterrupt:
            streams.to_stderr("canceled\n")
            return False
        except Exception as error:  # noqa: BLE001  # print_error raises what is not the statement's
            print_error(error, statement, spark, settings, streams)
            return False
    return True


def prompt_session(settings: Settings) -> PromptSession[str]:
    """Return a prompt with a history in the target's folder, where Enter ends what a semicolon ends."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.lexers import PygmentsLexer
    from pygments.lexers.sql import SqlLexer

    from lakeward.private_folders import private_folder
    from lakeward.sql import is_complete

    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        text = event.current_buffer.text
        if text.strip().lower() in _EXIT_COMMANDS or is_complete(text):
            event.current_buffer.validate_and_handle()
        else:
            event.current_buffer.insert_text("\n")

    private_folder(settings.state)
    return PromptSession(
        history=FileHistory(str(settings.state / "sql_history")),
        lexer=PygmentsLexer(SqlLexer),
        multiline=True,
        key_bindings=keys,
        complete_while_typing=False,
        prompt_continuation=lambda width, _line, _soft: "." * (width - 1) + " ",
    )


def completer(spark: SparkSession) -> WordCompleter:
    """Return a completer for the tables of the current schema."""
    from prompt_toolkit.completion import WordCompleter

    names: list[str] = []

    def tables() -> list[str]:
        if not names:
            names.extend(sorted(row["tableName"] for row in spark.sql("SHOW TABLES").collect()))
        return names

    return WordCompleter(tables, ignore_case=True)
