"""Telling Spark's chatter from what the user's code prints."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from pyspark.errors import ParseException

from lakeward.cli.notebook import show as show_notebook
from lakeward.cli.output_streams import SparkLogLines, Streams
from lakeward.cli.sql import print_error
from lakeward.errors import SqlError
from lakeward.notebooks import NotebookRun
from lakeward.session import Settings

SETTINGS = Settings(root=Path("none"), home=Path("none"))
SPARKS = [
    "26/11/21 07:10:03 WARN NativeCodeLoader: Unable to load native-hadoop library",
    "26/11/21 07:10:03 ERROR Executor: Exception in task 0.0 in stage 1.0 (TID 1)",
    '{"ts": "2026-11-21T07:10:03.123Z", "level": "ERROR", "logger": "SQLQueryContextLogger", "msg": "x"}',
    "WARNING: Using incubator modules: jdk.incubator.vector",
    "Using Spark's default log4j profile: org/apache/spark/log4j2-defaults.properties",
    'Setting default log level to "WARN".',
    "\r[Stage 0:>                                                          (0 + 2) / 2]",
    "Starting Streaming TransformWithStateInPandas Python worker.",
    "Streaming TransformWithStateInPandas Python worker Completed execution of UDF: <bound method …>.",
]
USERS = [
    "WARNING: heart rate of 300",
    "2026-11-21 is a Saturday",
    '{"rows": 3}',
    "    at the end (of the day)",
    "26/11/21 was a Saturday",
    "Starting Streaming",
    "Streaming TransformWithStateInPandas",
    "",
]


@pytest.mark.parametrize("line", SPARKS)
def test_a_line_of_sparks_log_is_chatter(line: str) -> None:
    assert line in SparkLogLines()


@pytest.mark.parametrize("line", USERS)
def test_a_line_of_the_users_is_not(line: str) -> None:
    assert line not in SparkLogLines()


def test_a_stack_trace_belongs_to_the_log_line_above_it_and_to_nothing_else() -> None:
    trace = [
        "java.lang.RuntimeException: boom",
        "\tat org.apache.spark.Foo.bar(Foo.scala:12)",
        "Caused by: java.io.IOException",
        "\t... 12 more",
    ]
    chatter = SparkLogLines()
    assert [line in chatter for line in [SPARKS[1], *trace, "done", *trace]] == [True] * 5 + [False] * 5


def test_an_empty_line_belongs_to_the_line_of_a_worker_above_it() -> None:
    lines = SparkLogLines()
    assert [line in lines for line in [SPARKS[-1], "", "", SPARKS[0], ""]] == [True, True, False, True, False]


def redirect_output(body: str, *, verbose: bool = False) -> subprocess.CompletedProcess[str]:
    """Run `body` in a process whose streams are redirect_output, the real ones being `streams`."""
    program = f"""
        import os, subprocess, sys
        from lakeward.cli.output_streams import redirect_output
        with redirect_output() as streams:
            {body}
        print("after")
    """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONUNBUFFERED": "", "LAKEWARD_VERBOSE": "1" if verbose else ""},
    )


def test_prints_of_python_and_of_child_processes_go_to_stderr_and_the_result_to_stdout() -> None:
    ran = redirect_output(
        'print("from python"); subprocess.run(["sh", "-c", "echo from a child"]); '
        'streams.out.write("result\\n")'
    )
    assert ran.stdout == "result\nafter\n"
    assert ran.stderr.splitlines() == ["from python", "from a child"]


def test_chatter_is_dropped_unless_requested() -> None:
    body = f"os.write(2, {(SPARKS[0] + chr(10)).encode()!r}); print('mine', flush=True)"
    assert redirect_output(body).stderr == "mine\n"
    assert redirect_output(body, verbose=True).stderr == f"{SPARKS[0]}\nmine\n"


def test_a_log_of_py4js_is_dropped_and_the_users_own_is_kept() -> None:
    body = (
        'import logging, py4j.java_gateway; logging.warning("mine"); '
        'record = logging.LogRecord("root", 40, "/x/py4j/clientserver.py", 1, "x", (), None); '
        'logging.getLogger().handle(record); logging.getLogger("py4j.clientserver").error("y")'
    )
    assert redirect_output(body).stderr == "WARNING:root:mine\n"
    verbose = redirect_output(body, verbose=True).stderr
    assert verbose == "WARNING:root:mine\nERROR:root:x\nERROR:py4j.clientserver:y\n"


def test_an_unfinished_line_is_not_lost() -> None:
    assert redirect_output('print("no newline", end="")').stderr == "no newline"


def test_a_burst_larger_than_the_pipe_comes_out_whole() -> None:
    ran = redirect_output('print("\\n".join(f"line {number}" for number in range(50_000)))')
    assert ran.stderr.splitlines() == [f"line {number}" for number in range(50_000)]


def test_a_child_that_outlives_the_command_does_not_hold_it_up() -> None:
    ran = redirect_output('subprocess.Popen(["sleep", "30"], stdin=subprocess.DEVNULL); print("started")')
    assert ran.stderr == "started\n"


def test_lines_of_the_command_come_after_the_output_before_them() -> None:
    run = redirect_output(
        """
            for n in range(300):
                streams.settle()
                streams.to_stderr(f"cell {n}\\n")
                print(f"printed {n}", end="" if n % 3 else "\\n", flush=n % 2 == 0)
            streams.settle()
        """.strip()
    )
    assert run.stderr.split("\n") == [text for n in range(300) for text in (f"cell {n}", f"printed {n}")] + [
        ""
    ]


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def statement_error(err: io.StringIO) -> None:
    error = SqlError("CONDITION", "what happened")
    print_error(error, "select 1", cast("Any", None), SETTINGS, Streams(io.StringIO(), err))


def parameter_error(err: io.StringIO) -> None:
    error = ParseException("[UNBOUND_SQL_PARAMETER] Found the unbound parameter: day.")
    print_error(error, "select :day", cast("Any", None), SETTINGS, Streams(io.StringIO(), err))


def notebook_error(err: io.StringIO) -> None:
    error = cast("Any", "[CONDITION] what happened")
    run = NotebookRun(Path("a.py"), "FAILED", None, error, (), 1.0, files={"html": "a.html"})
    show_notebook(run, Streams(io.StringIO(), err), as_json=False)


@pytest.mark.parametrize("fail", [statement_error, parameter_error, notebook_error])
def test_the_head_of_an_error_has_a_colour_on_terminals_alone(
    fail: Callable[[io.StringIO], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    fail(terminal := Terminal())
    assert terminal.getvalue().startswith("\x1b[31m\x1b[1merror:\x1b[0m [")
    fail(pipe := io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    fail(plain := Terminal())
    assert plain.getvalue() == pipe.getvalue()
    assert pipe.getvalue().startswith("error: ")
