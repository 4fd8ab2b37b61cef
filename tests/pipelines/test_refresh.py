"""The selection of datasets and flows by the options of an update; no Spark is needed (SDP-4.7)."""

from __future__ import annotations

import pytest

from lakeward.errors import ConfigurationError
from lakeward.pipelines.analysis.dataset_selection import select_datasets, validate_resettable_inputs
from lakeward.pipelines.graph.dataflow_graph import DataflowGraph
from lakeward.pipelines.graph.elements import Dataset, DefaultSchema, Flow, SourceCodeLocation, TableOptions

HERE = SourceCodeLocation("a.py", 3)


def table(name: str, *flows: str, kept: bool = False) -> Dataset:
    key = ("main", "default", name)
    options = TableOptions(properties={"pipelines.reset.allowed": "false"} if kept else {})
    made = tuple(Flow(flow, key, lambda: None, HERE) for flow in flows or (name,))
    return Dataset(name, key, "streaming_table", options, (), made, HERE)


GRAPH = DataflowGraph(DefaultSchema("main", "default"), (table("orders", "east", "west"), table("users")))


@pytest.mark.parametrize("name", ["west", "WEST", "main.default.west"])
def test_a_flow_whose_checkpoint_is_reset_is_named_alone_or_in_full(name: str) -> None:
    found = select_datasets(GRAPH, refresh=(), full_refresh=(), everything=False, checkpoints=[name])
    assert found.restart == {(("main", "default", "orders"), "west")}
    assert len(found.refresh) == 2 and not found.reset


def test_an_unknown_flow_is_reported_with_the_near_miss() -> None:
    with pytest.raises(ConfigurationError, match="FLOW_NOT_FOUND") as caught:
        select_datasets(GRAPH, refresh=(), full_refresh=(), everything=False, checkpoints=["wst"])
    assert "west" in str(caught.value)


def test_a_table_that_keeps_its_rows_streams_from_such_tables_alone() -> None:
    (error,) = validate_resettable_inputs(
        table("gold", kept=True), [table("bronze"), table("raw", kept=True)]
    )
    assert error.condition == "INVALID_RESETTABLE_DEPENDENCY"
    assert "a.py:3" in str(error) and "`bronze`" in str(error) and "`raw`" not in str(error)
    assert not validate_resettable_inputs(table("gold"), [table("bronze")])
