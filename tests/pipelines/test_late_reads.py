"""Reads that only the execution meets: the flow waits, and evaluation starts no other dataset."""

from __future__ import annotations

import pytest

from lakeward.pipelines.execution.scheduler import AwaitedInput, DatasetTask, run_concurrently
from lakeward.pipelines.storage.streaming_query_task import QueryTask
from tests.pipelines.conftest import Lab, result

# Phase 1 calls the function once; only later calls read the other dataset.
FIRST = """
    from pyspark import pipelines as dp

    calls = []

    @dp.materialized_view
    def first():
        calls.append(1)
        return spark.range(1) if len(calls) == 1 else spark.read.table("READ")

    @dp.materialized_view
    def second():
        return QUERY
"""


def source(read: str, query: str) -> str:
    return FIRST.replace("READ", read).replace("QUERY", query)


def test_a_flow_waits_for_a_dataset_that_the_analysis_did_not_see(lab: Lab) -> None:
    lab.file("a.py", source("second", "spark.range(3)"))
    lab.done()
    assert sorted(lab.rows("first")) == [(0,), (1,), (2,)]


def test_a_late_input_that_fails_skips_its_reader(lab: Lab) -> None:
    lab.file("a.py", source("second", "spark.sql('SELECT CAST(raise_error(\"no\") AS BIGINT) AS id')"))
    update = lab.run()
    assert (result(update, "first").state, result(update, "second").state) == ("SKIPPED", "FAILED")


def test_a_late_input_that_is_not_selected_is_read_as_it_is(lab: Lab) -> None:
    lab.file("a.py", source("second", "spark.range(3)"))
    lab.done(refresh=["second"])
    lab.file("a.py", source("second", "spark.range(5)"))
    lab.done(refresh=["first"])
    assert len(lab.rows("first")) == 3


@pytest.mark.parametrize(
    ("read", "query", "states"),
    [
        ("first", "spark.range(3)", ("FAILED", "COMPLETED")),
        ("second", 'spark.read.table("first")', ("SKIPPED", "FAILED")),
    ],
    ids=["itself", "its reader"],
)
def test_a_late_read_in_a_cycle_fails(lab: Lab, read: str, query: str, states: tuple[str, str]) -> None:
    lab.file("a.py", source(read, query))
    update = lab.run()
    assert (result(update, "first").state, result(update, "second").state) == states
    assert "PIPELINE_GRAPH_CYCLE" in (update.error or "")


def test_tasks_that_await_inputs_leave_their_slots_to_others() -> None:
    done: list[str] = []

    def work(name: str, awaited: str | None) -> QueryTask[None]:
        if awaited is not None:
            yield AwaitedInput(lambda: awaited in done)
        done.append(name)

    def start(item: tuple[str, str | None]) -> DatasetTask:
        task = DatasetTask(work(*item))
        task.advance()
        return task

    items = [("a", "b"), ("b", "c"), ("c", "d"), ("d", None)]
    run_concurrently(
        items, start=start, is_ready=lambda _: True, advance=DatasetTask.advance, max_parallelism=1
    )
    assert done == ["d", "c", "b", "a"]


def test_tasks_that_await_each_other_end_with_an_error() -> None:
    def never() -> QueryTask[None]:
        yield AwaitedInput(lambda: False)

    def start(_: str) -> DatasetTask:
        task = DatasetTask(never())
        task.advance()
        return task

    with pytest.raises(RuntimeError, match="await each other"):
        run_concurrently(
            "ab", start=start, is_ready=lambda _: True, advance=DatasetTask.advance, max_parallelism=2
        )
