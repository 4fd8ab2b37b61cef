"""Streaming queries of notebooks: their failures, and what displayed ones show."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.streaming.query_errors import shorten_interruptions
from tests.notebooks.conftest import Desk, text_of

SOURCE = """\
# Databricks notebook source
spark.range(3).coalesce(1).write.saveAsTable("SCHEMA.numbers")

# COMMAND ----------

failing = spark.readStream.table("SCHEMA.numbers").selectExpr("INT(raise_error('late')) AS a")
def start(name):
    path = f"{dbutils.widgets.get('folder')}/{name}"
    writer = failing.writeStream.option("checkpointLocation", path).trigger(availableNow=True)
    return writer.toTable("SCHEMA.t")

# COMMAND ----------

"""
CELL = "\n\n# COMMAND ----------\n\n"
STARTS = {
    "toTable": "query = start('a')",
    "start": "query = failing.writeStream.format('noop').start()",
    "foreachBatch": "query = failing.writeStream.foreachBatch(lambda rows, _: rows.collect()).start()",
    "display": "failing.display()",
    "thread": (
        "from threading import Thread\n"
        "thread = Thread(target=lambda: start('a'))\n"
        "thread.start(); thread.join(); thread = None"
    ),
}
WAITS = {
    "nothing follows": "pass",
    "ended before the last cell": "import time\nwhile spark.streams.active: time.sleep(0.1)",
}


def run(desk: Desk, *cells: str) -> Any:
    path = desk.file("streams.py", SOURCE + CELL.join(cells) + "\n")
    return desk.run(path, parameters={"folder": str(desk.folder)})


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("start", STARTS)
def test_a_stream_that_fails_unseen_fails_the_notebook(desk: Desk, start: str, wait: str) -> None:
    finished = run(desk, STARTS[start], WAITS[wait])
    assert (finished.state, [cell.state for cell in finished.cells]) == (
        "FAILED",
        ["COMPLETED", "COMPLETED", "FAILED", "COMPLETED"],
    )
    assert finished.error is not None
    assert "late" in finished.error.message
    first = SOURCE.count("\n") + 1
    # The innermost line of the notebook is that of the function in the cell before.
    line = first - 4 if start in ("toTable", "thread") else first
    assert finished.error.place.rpartition(":")[2] == str(line)
    assert "late" in text_of(finished, 3)


RECEIVED = {
    "awaitTermination": "query.awaitTermination()",
    "awaitTermination with a timeout": "query.awaitTermination(60)",
    "processAllAvailable": "query.processAllAvailable()",
    "awaitAnyTermination": "spark.streams.awaitAnyTermination(); spark.streams.awaitAnyTermination()",
}


@pytest.mark.parametrize("received", RECEIVED)
def test_a_failure_that_code_has_received_is_its_own_matter(desk: Desk, received: str) -> None:
    code = "\n".join(f"    {line}" for line in RECEIVED[received].splitlines())
    finished = run(
        desk,
        "spark.streams.resetTerminated()\nquery = start('a')",
        f"try:\n{code}\n    print('none')\nexcept Exception as error:\n    print(type(error).__name__)",
    )
    assert (finished.state, finished.error) == ("COMPLETED", None)
    assert text_of(finished, 4).strip() != "none"


def test_a_failure_that_code_has_looked_at_is_its_own_matter(desk: Desk) -> None:
    wait = WAITS["ended before the last cell"]
    finished = run(desk, "query = start('a')", f"{wait}\nprint('late' in str(query.exception()))")
    assert (finished.state, text_of(finished, 4).strip()) == ("COMPLETED", "True")


def test_a_failure_in_another_notebook_is_that_notebooks(desk: Desk) -> None:
    desk.file("child.py", SOURCE.replace("numbers", "of_child") + STARTS["start"])
    finished = run(
        desk,
        "folder = dbutils.widgets.get('folder')\n"
        "try:\n    dbutils.notebook.run('./child', 60, {'folder': folder})\n"
        "except Exception as error:\n    print('late' in str(error))",
    )
    assert (finished.state, text_of(finished, 3).strip()) == ("COMPLETED", "True")
    assert finished.children[0].state == "FAILED"


def test_displayed_streams_show_their_rows_at_the_end(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    finished = run(
        desk,
        "spark.readStream.table('SCHEMA.numbers').display()\n"
        "display(spark.readStream.table('SCHEMA.numbers').groupBy().count())",
    )
    assert finished.state == "COMPLETED", finished.error
    shown = "cell 3 · displayed stream\nid\n--\n0\n1\n2\ncell 3 · displayed stream\ncount\n-----\n3\n"
    assert shown in capsys.readouterr().out
    assert text_of(finished, 3).split() == ["id", "--", "0", "1", "2", "count", "-----", "3"]


INTERRUPTED = (
    "py4j.protocol.Py4JJavaError: An error occurred while calling o1.f.\n: java.lang.InterruptedException\n"
)


@pytest.mark.parametrize(
    ("text", "shortened"),
    [
        (INTERRUPTED + "\tat a.B.c(B.java:1)\n" * 1000, True),
        (INTERRUPTED.replace("Interrupted", "IllegalState"), False),
        ("java.lang.InterruptedException", False),
    ],
)
def test_the_error_of_a_stopped_batch_is_short(text: str, *, shortened: bool) -> None:
    def user_function(*_: Any) -> None:
        raise ValueError(text)

    apply = shorten_interruptions(lambda _, func: func)(None, user_function)
    with pytest.raises(InterruptedError if shortened else ValueError) as caught:
        apply(None, 0)
    assert (len(str(caught.value)) < 200) is (shortened or len(text) < 200)
