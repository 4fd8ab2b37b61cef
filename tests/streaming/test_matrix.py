"""Every cell of the page about streaming is executed: it runs, or fails with the listed condition."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakeward.session import condition_of
from pages.streaming_support import MODES, OPERATIONS, RUNS, TRIGGERS, Mode, Operation, Trigger
from tests.streaming.conftest import Streams

CELLS = [(operation, mode) for operation in OPERATIONS for mode in MODES]
PARTS = 8


def outcome(streams: Streams, operation: Operation, mode: str) -> str:
    """Return RUNS, or the condition of the error."""
    stream = streams.stream()
    names = {"s": stream, "w": stream.withWatermark("at", "1 hour"), "t": streams.spark.table(streams.table)}
    try:
        frame = eval(operation.code, {"F": F, "Window": Window}, names)  # the table's own code
        streams.run(frame, mode, {"availableNow": True})
    except Exception as error:  # noqa: BLE001  # whatever it is, it is compared
        return condition_of(error) or str(error)
    return RUNS


def check(streams: Streams, cells: list[tuple[Operation, Mode]]) -> None:
    """Each cell is what the page says."""
    said = {(o.name, mode): getattr(o, mode) for o, mode in cells}
    assert {(o.name, mode): outcome(streams, o, mode) for o, mode in cells} == said


def test_cells_across_the_page_are_what_it_says(streams: Streams) -> None:
    check(streams, CELLS[::40])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_cell_is_what_the_page_says(streams: Streams, part: int) -> None:
    check(streams, CELLS[part::PARTS])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:trigger.once=True. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("trigger", TRIGGERS, ids=lambda t: t.name)
def test_every_trigger_writes_a_delta_table_in_the_modes_that_it_has(
    streams: Streams, trigger: Trigger
) -> None:
    arguments: dict[str, Any] = eval(f"dict({trigger.name})")  # the table's own code
    found = {}
    for mode in MODES:
        stream = streams.stream()
        frame = stream.groupBy("k").count() if mode == "complete" else stream.select("k")
        try:
            name = streams.run(frame, mode, arguments, table=True)
            assert streams.spark.table(name).count() == (2 if mode == "complete" else 3)
            found[mode] = RUNS
        except Exception as error:  # noqa: BLE001  # whatever it is, it is compared
            found[mode] = condition_of(error) or str(error)
    assert found == {mode: getattr(trigger, mode) for mode in MODES}
