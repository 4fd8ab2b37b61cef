"""The next update completes an interrupted full refresh (INV-16, INV-22)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from py4j.protocol import Py4JNetworkError

from lakeward.pipelines.execution import graph_execution
from lakeward.pipelines.execution.flow_execution import FlowExecution
from lakeward.pipelines.execution.graph_execution import GraphExecution
from lakeward.pipelines.storage import dataset_manager
from lakeward.pipelines.storage.checkpoints import Checkpoints
from lakeward.session.jvm import interrupts
from tests.pipelines.conftest import Lab

FILE = """
from pyspark import pipelines as dp
from pyspark.sql import functions as F

@dp.table
def bronze():
    broken = spark.conf.get("broken", "false")
    column = F.when(F.expr(broken), F.raise_error(F.lit("not today"))).otherwise(F.col("id"))
    return spark.readStream.table("SRC.readings").withColumn("id", column)

@dp.table
def silver():
    return spark.readStream.table("bronze").where("id > 1")

dp.create_streaming_table("latest")
dp.create_auto_cdc_flow(target="latest", source="silver", keys=["k"], sequence_by="id")

@dp.materialized_view
def gold():
    return spark.read.table("silver").groupBy("k").agg(F.sum("id").alias("total"))
"""
TABLES = ("bronze", "silver", "latest", "gold")


@dataclass
class Filled:
    """A pipeline that all tests share: each adds ten rows, and leaves tables that hold all of them."""

    lab: Lab
    rows: int = 0
    is_complete: bool = True

    def add_rows(self) -> None:
        start, self.rows = self.rows, self.rows + 10
        self.lab.seed("readings", f"SELECT id, {KEY} AS k FROM range({start}, {self.rows})")

    def expected(self) -> dict[str, list[tuple[Any, ...]]]:
        """Compute what a complete refresh gives."""
        bronze = [(i, i % 2 if i < 10 else i % 3) for i in range(self.rows)]
        silver = [row for row in bronze if row[0] > 1]
        keys = {k for _, k in silver}
        rows: dict[str, list[tuple[Any, ...]]] = {
            "bronze": list(bronze),
            "silver": list(silver),
            "latest": [(max(i for i, k in silver if k == key), key) for key in keys],
            "gold": [(key, sum(i for i, k in silver if k == key)) for key in keys],
        }
        return {name: sorted(each, key=repr) for name, each in rows.items()}


KEY = "if(id < 10, id % 2, id % 3)"


@pytest.fixture(scope="module")
def filled_labs() -> list[Filled]:
    return []


@pytest.fixture
def filled(filled_labs: list[Filled], module_lab: Callable[[], Lab]) -> Iterator[Lab]:
    """Return the shared pipeline, completely refreshed, with ten rows that it has not read yet.

    A test that failed leaves its pipeline in any state: the next one gets a pipeline of its own.
    """
    if not filled_labs or not filled_labs[-1].is_complete:
        filled_labs.append(Filled(module_lab()))
        filled_labs[-1].lab.file("a.py", FILE)
        filled_labs[-1].add_rows()
        filled_labs[-1].lab.done()
    shared = filled_labs[-1]
    shared.is_complete = False
    shared.lab.events.clear()
    shared.add_rows()
    yield shared.lab
    shared.is_complete = found(shared.lab) == shared.expected()


def found(lab: Lab) -> dict[str, list[tuple[Any, ...]]]:
    return {name: lab.rows(name) for name in TABLES}


@pytest.fixture
def expected(filled: Lab, filled_labs: list[Filled]) -> dict[str, list[tuple[Any, ...]]]:
    return filled_labs[-1].expected()


def interrupted_at(function: Any, calls: int) -> Any:
    """The function; its call number `calls` is a Ctrl-C."""
    numbers: Iterator[int] = iter(range(1, 1000))

    def called(*given: Any, **named: Any) -> Any:
        if next(numbers) == calls:
            raise KeyboardInterrupt
        return function(*given, **named)

    return called


@pytest.mark.parametrize(
    ("place", "name", "calls"),
    [
        pytest.param(Checkpoints, "begin_reset", 2, id="between two notes"),
        pytest.param(
            dataset_manager,
            "create_empty_table",
            1,
            id="before the first table was emptied",
            marks=pytest.mark.slow,
        ),
        pytest.param(Checkpoints, "finish_reset", 1, id="after the first table was emptied"),
        pytest.param(
            dataset_manager,
            "create_empty_table",
            2,
            id="before the second table was emptied",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_next_update_completes_an_interrupted_full_refresh(
    filled: Lab,
    expected: dict[str, list[tuple[Any, ...]]],
    monkeypatch: pytest.MonkeyPatch,
    place: Any,
    name: str,
    calls: int,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(place, name, interrupted_at(getattr(place, name), calls))
        assert filled.run(full_refresh_all=True).state == "CANCELED"
    filled.events.clear()
    filled.done()
    assert found(filled) == expected
    (message,) = [
        each.message for each in filled.events if "interrupted full refresh" in (each.message or "")
    ]
    assert "latest" in message
    filled.events.clear()
    filled.done()
    assert not any("interrupted full refresh" in (each.message or "") for each in filled.events)


@pytest.mark.slow
def test_what_a_failed_full_refresh_did_not_reach_is_reset_as_well(
    filled: Lab, expected: dict[str, list[tuple[Any, ...]]]
) -> None:
    broken = filled.run(full_refresh_all=True, configuration={"broken": "true"})
    assert broken.state == "FAILED" and "not today" in (broken.error or "")
    # Only the view is requested: the rest of the full refresh is completed nevertheless.
    filled.done(refresh=["gold"])
    filled.done()
    assert found(filled) == expected


@pytest.mark.slow
def test_a_reader_alone_is_not_refreshed_from_a_table_that_has_yet_to_be_emptied(
    filled: Lab, expected: dict[str, list[tuple[Any, ...]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(
            dataset_manager, "create_empty_table", interrupted_at(dataset_manager.create_empty_table, 1)
        )
        assert filled.run(full_refresh_all=True).state == "CANCELED"
    filled.done(refresh=["silver"])
    filled.done()
    assert found(filled) == expected


@pytest.mark.slow
def test_the_log_reports_truncated_tables(filled: Lab) -> None:
    update = filled.done(full_refresh=["silver", "latest"])
    progress = f"event_type = 'update_progress' AND origin.update_id = '{update.update_id}'"
    details = [row["details"] for row in filled.log(progress)]
    assert sum("RESETTING" in str(each) for each in details) == 1


def replaced_interrupt(*_: Any, **__: Any) -> Any:
    """A Ctrl-C whose KeyboardInterrupt an error of the clean-up replaced."""
    interrupts._interrupts += 1
    raise Py4JNetworkError("Answer from Java side is empty")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        pytest.param(FlowExecution, "run", id="in a flow"),
        pytest.param(
            graph_execution, "prepare_streaming_table", id="before the flows", marks=pytest.mark.slow
        ),
        pytest.param(GraphExecution, "run", id="after the flows", marks=pytest.mark.slow),
    ],
)
def test_an_error_that_follows_ctrl_c_cancels_the_update(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, place: Any, name: str
) -> None:
    lab.file("a.py", FILE)
    lab.seed("readings", "SELECT id, id % 2 AS k FROM range(10)")
    with monkeypatch.context() as patch:
        patch.setattr(interrupts, "_interrupts", 0)
        patch.setattr(place, name, replaced_interrupt)
        update = lab.run()
    assert (update.state, update.error) == ("CANCELED", "The update was interrupted.")
    assert "FAILED" not in {dataset.state for dataset in update.datasets}
    lab.done()
