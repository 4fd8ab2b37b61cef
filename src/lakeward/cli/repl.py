"""The prompt of `lakeward sql`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lakeward.private_folders import private_folder
from lakeward.sql import is_complete, split

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

    from lakeward.session import Settings

__all__ = ["run_prompt"]

LEAVE = ("exit", "quit", "exit;", "quit;")


def run_prompt(settings: Settings, form: str) -> int:
    """Read statements and print their results until `exit` or Ctrl-D; the exit code.

    Ctrl-C leaves the statement that is being typed, or stops the one that runs.
    """
    from lakeward.cli.output_streams import redirect_output
    from lakeward.cli.sql import opened, print_error, run_one, starting

    session = prompt_session(settings)
    with redirect_output(verbose=bool(os.environ.get("LAKEWARD_VERBOSE"))) as streams, starting(streams):
        spark = opened(settings)
    where = f"{settings.target} · {settings.catalog}.{settings.schema}"
    print(f"{where} · statements end with ; · exit or Ctrl-D leaves")
    while True:
        try:
            text = session.prompt(f"{settings.target}> ", completer=completer(spark))
        except KeyboardInterrupt:
            continue
        except EOFError:
            return 0
        if text.strip().lower() in LEAVE:
            return 0
        for statement in split(text):
            with redirect_output(verbose=bool(os.environ.get("LAKEWARD_VERBOSE"))) as streams:
                try:
                    run_one(spark, statement, form, streams)
                except KeyboardInterrupt:
                    streams.to_stderr("canceled\n")
                    break
                except Exception as error:  # noqa: BLE001  # print_error raises what is not the statement's
                    print_error(error, spark, settings, streams)
                    break


def prompt_session(settings: Settings) -> PromptSession[str]:
    """A prompt with a history in the target's folder, where Enter ends what a semicolon ends."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.lexers import PygmentsLexer
    from pygments.lexers.sql import SqlLexer

    keys = KeyBindings()

    @keys.add("enter")
    def _(event: Any) -> None:
        text = event.current_buffer.text
        if text.strip().lower() in LEAVE or is_complete(text):
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


def completer(spark: Any) -> Any:
    """Completes the names of the current schema's tables on Tab."""
    from prompt_toolkit.completion import WordCompleter

    names: list[str] = []

    def tables() -> list[str]:
        if not names:
            names.extend(sorted(row["tableName"] for row in spark.sql("SHOW TABLES").collect()))
        return names

    return WordCompleter(tables, ignore_case=True)
