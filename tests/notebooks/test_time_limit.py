"""`timeout_seconds` of `dbutils.notebook.run` ends the notebook, whatever it does, and nothing else."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import pytest

from lakeward.errors import NotebookError
from lakeward.notebooks.time_limit import call_with_limit
from tests.notebooks.conftest import Desk
from tests.notebooks.test_running import HEAD

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What a notebook does that does not end.
ENDLESS = {
    "loop": "while True:\n    pass",
    "sleep": "import time\ntime.sleep(3600)",
    "lock": "import threading\nthreading.Event().wait()",
    "caught errors": (
        "import time\nwhile True:\n    try:\n        time.sleep(0.1)\n    except Exception:\n        pass"
    ),
    "query": (
        "spark.range(10**7, numPartitions=4).repartition(400)"
        '.selectExpr(\'java_method("java.lang.Thread", "sleep", 1L)\').collect()'
    ),
    "caught query": (
        "while True:\n    try:\n        spark.range(10).repartition(2).count()\n"
        "    except Exception:\n        pass"
    ),
    "stream": (
        "spark.readStream.format('rate').load().writeStream.format('memory')"
        ".queryName('endless').start().awaitTermination()"
    ),
    "stream at the end": (
        "spark.readStream.format('rate').load().writeStream.format('memory').queryName('endless').start()"
    ),
    "child": "dbutils.notebook.run('./sleeping', 0)",
    "child with a longer limit": "dbutils.notebook.run('./sleeping', 3600)",
}
PARENT = """\
# Databricks notebook source
from concurrent.futures import ThreadPoolExecutor as Pool

def child():
    try:
        return dbutils.notebook.run("./endless", 1)
    except Exception as error:
        return str(error)

said = CALL
# The session and the main thread are as before.
rows = spark.range(3).count()
dbutils.notebook.exit(f"{rows} {spark.sparkContext.getJobTags()} {said}")
"""


@pytest.mark.parametrize(
    ("doing", "call"),
    [
        *((doing, "child()") for doing in ENDLESS),
        *(
            (doing, "list(Pool(1).map(lambda _: child(), [0]))[0]")
            for doing in ("loop", "caught query", "stream")
        ),
    ],
)
def test_a_notebook_that_takes_longer_is_ended(desk: Desk, doing: str, call: str) -> None:
    desk.file("sleeping.py", HEAD + ENDLESS["sleep"])
    desk.file("endless.py", HEAD + ENDLESS[doing])
    finished = desk.done(desk.file("parent.py", PARENT.replace("CALL", call)))
    assert finished.exit_value is not None
    assert finished.exit_value.startswith(
        "3 set() [NOTEBOOK_TIMED_OUT] com.databricks.WorkflowException: TIMEDOUT"
    )
    assert "./endless did not end within 1 seconds" in finished.exit_value


def test_a_child_of_its_own_limit_ends_alone(desk: Desk) -> None:
    desk.file("sleeping.py", HEAD + ENDLESS["sleep"])
    inner = PARENT.replace("CALL", "child()").replace("./endless", "./sleeping")
    desk.file("endless.py", inner)
    outer = 'value = dbutils.notebook.run("./endless", 3600)\ndbutils.notebook.exit("outer " + value)'
    finished = desk.done(desk.file("parent.py", HEAD + outer))
    assert (finished.exit_value or "").startswith("outer 3 ")
    assert "TIMEDOUT: ./sleeping" in (finished.exit_value or "")


def test_an_error_before_the_limit_is_the_notebooks(desk: Desk) -> None:
    desk.file("endless.py", HEAD + "1 / 0")
    finished = desk.done(desk.file("parent.py", PARENT.replace("CALL", "child()")))
    assert "NOTEBOOK_FAILED" in (finished.exit_value or "")


def call_until(spark: SparkSession, position: int) -> int:
    """Let a limit pass in the function that is number `position` after the call; return their count."""
    is_over, begun = False, 0

    def trace(*_: object) -> None:
        nonlocal begun
        begun += is_over
        if is_over and begun == position:
            time.sleep(0.04)

    def call() -> None:
        nonlocal is_over
        is_over = True

    sys.settrace(trace)
    try:
        call_with_limit(spark, 0.01, "n", call)
    except NotebookError as error:
        assert error.condition == "NOTEBOOK_TIMED_OUT"
    finally:
        sys.settrace(None)
    return begun


@pytest.mark.parametrize("thread", ["main", "other"])
def test_a_limit_that_passes_when_the_call_has_ended_raises_no_later_error(desk: Desk, thread: str) -> None:
    late: list[BaseException] = []
    positions = 0

    def work() -> None:
        nonlocal positions
        try:
            while call_until(desk.spark, positions) >= positions:
                positions += 1
        except BaseException as error:  # noqa: BLE001  # the one of the limit, too
            late.append(error)

    if thread == "main":
        work()
    else:
        other = threading.Thread(target=work, daemon=True)
        other.start()
        other.join(120)
    assert late == []
    assert positions > 10
    assert not [each for each in threading.enumerate() if each.name == "lakeward-notebook-limit"]


@pytest.mark.parametrize("seconds", [60, 0.01])
def test_a_limit_in_a_thread_leaves_the_interpreter_as_it_was(desk: Desk, seconds: float) -> None:
    """With an error that was taken back, CPython 3.11 never leaves the first line of a traced function."""

    def limited() -> None:
        with suppress(NotebookError):
            call_with_limit(desk.spark, seconds, "n", partial(time.sleep, 0.02))

    def traced() -> None:
        def trace(*_: object) -> object:
            return trace

        def write(*numbers: int) -> None:
            lines.extend(numbers)

        def call() -> None:
            write(*range(3))

        sys.settrace(trace)  # type: ignore[arg-type]  # any callable
        try:
            call()
        finally:
            sys.settrace(None)
        lines.append(3)

    lines: list[int] = []
    for work in (limited, traced):
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(30)
    assert lines == [0, 1, 2, 3]
