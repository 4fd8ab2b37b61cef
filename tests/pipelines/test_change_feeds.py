"""Reads of the change data feed of a dataset of the same pipeline: every spelling, every kind of dataset."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lakeward.pipelines import Update
from tests.lanes import sampled
from tests.pipelines.conftest import Lab, result


@dataclass(frozen=True, order=True)
class Case:
    """One reader: the kind of the dataset, the decorator of the reader, and the spelling of its read."""

    kind: str
    decorator: str
    spelling: str

    def __str__(self) -> str:
        return f"{self.kind}_{self.decorator}_{self.spelling}"


FEED = '{"delta.enableChangeDataFeed": "true"}'

# The dataset `NAME` whose feed is read.
KINDS = {
    "view": '@dp.materialized_view(name="NAME", table_properties=FEED)\ndef NAME():\n'
    '    return spark.read.table("SRC.rows").select("id", "v")',
    "streaming": '@dp.table(name="NAME", table_properties=FEED)\ndef NAME():\n'
    '    return spark.readStream.table("SRC.rows").select("id", "v")',
    "cdc": 'dp.create_streaming_table("NAME", table_properties=FEED)\n'
    'dp.create_auto_cdc_flow(target="NAME", source="SRC.rows", keys=["id"], sequence_by="seq", '
    'except_column_list=["seq"], stored_as_scd_type=1)',
}

STREAMS = {
    "option": 'spark.readStream.option("readChangeFeed", "true").table("NAME")',
    "boolean": 'spark.readStream.option("readChangeFeed", True).table("NAME")',
    "lower": 'spark.readStream.option("readchangefeed", "TRUE").table("NAME")',
    "legacy": 'spark.readStream.option("readChangeData", "true").table("NAME")',
    "options": 'spark.readStream.options(readChangeFeed=True, startingVersion=0).table("NAME")',
    "format": 'spark.readStream.format("delta").option("readChangeFeed", "true").table("NAME")',
    "qualified": 'spark.readStream.option("readChangeFeed", "true").table("main.SCHEMA.NAME")',
    "live": 'spark.readStream.option("readChangeFeed", "true").table("LIVE.NAME")',
    "sql": "spark.sql('SELECT * FROM STREAM NAME WITH (readChangeFeed = true, startingVersion = 0)')",
    "alias": 'spark.sql("SELECT x.* FROM STREAM(NAME) WITH (readChangeFeed=true, startingVersion=0) AS x")',
}
BATCHES = {
    "option": 'spark.read.option("readChangeFeed", "true").option("startingVersion", 0).table("NAME")',
    "legacy": 'spark.read.option("readchangedata", "true").option("startingVersion", 0).table("NAME")',
    "options": 'spark.read.options(readChangeFeed=True, startingVersion="0").table("NAME")',
    "sql": "spark.sql(\"SELECT * FROM NAME WITH ('readChangeFeed' = 'true', 'startingVersion' = '0')\")",
    "function": "spark.sql(\"SELECT * FROM table_changes('NAME', 0)\")",
    "start_time": "spark.sql(\"SELECT * FROM table_changes('NAME', '2020-01-01')\")",
    "qualified": "spark.sql(\"SELECT n.* FROM TABLE_CHANGES('main.SCHEMA.`NAME`', 0) AS n\")",
}
READER = """
@dp.DECORATOR(name="READER")
def READER():
    found = QUERY
    assert found.columns[-3:] == ["_change_type", "_commit_version", "_commit_timestamp"], found.columns
    return found.select("id", "v", "_change_type", "_commit_version", "_commit_timestamp")
"""
_CASES = [
    Case(kind, decorator, spelling)
    for kind in KINDS
    for decorator, spellings in (("table", STREAMS), ("materialized_view", BATCHES))
    for spelling in spellings
]


def pipeline(lab: Lab, cases: Iterable[Case]) -> str:
    """Readers before what they read: the order of the file decides nothing."""
    parts = ["from pyspark import pipelines as dp", f"FEED = {FEED}"]
    for case in cases:
        query = (STREAMS if case.decorator == "table" else BATCHES)[case.spelling]
        text = READER.replace("QUERY", query).replace("DECORATOR", case.decorator)
        parts.append(text.replace("READER", str(case)).replace("NAME", f"own_{case.kind}"))
    parts += [text.replace("NAME", f"own_{kind}") for kind, text in KINDS.items()]
    return "\n\n".join(parts).replace("SCHEMA", lab.schema)


# Every spelling once, over the kinds in turn.
_KINDS = itertools.cycle(KINDS)
_KEPT = [
    Case(next(_KINDS), decorator, spelling)
    for decorator, spellings in (("table", STREAMS), ("materialized_view", BATCHES))
    for spelling in spellings
]
CASES = sampled(_CASES, *_KEPT)
Feeds = tuple[Lab, list[dict[Case, list[tuple[object, ...]]]]]


@pytest.fixture(scope="module")
def feeds(module_lab: Callable[[], Lab], request: pytest.FixtureRequest) -> Feeds:
    """Run two updates: the first creates the datasets, the second reads a new row."""
    lab = module_lab()
    chosen = {case for item in request.session.items if (case := _case(item)) is not None}
    lab.file("a.py", pipeline(lab, sorted(chosen)))
    found = []
    for rows in ("(1, 'a', 1), (2, 'b', 1)", "(3, 'c', 2)"):
        lab.seed("rows", f"SELECT * FROM VALUES {rows} AS t (id, v, seq)")
        lab.done()
        found.append({case: lab.rows(str(case), "id, v, _change_type") for case in chosen})
    return lab, found


def _case(item: pytest.Item) -> Case | None:
    found = getattr(item, "callspec", None)
    return found.params.get("case") if item.path == Path(__file__) and found else None


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_dataset_reads_the_feed_of_another_one(feeds: Feeds, case: Case) -> None:
    _, (first, second) = feeds
    assert first[case] == [(1, "a", "insert"), (2, "b", "insert")]
    assert (3, "c", "insert") in second[case]
    # A recomputed view deletes and inserts all rows: the feed has both.
    net = {row[:2]: 0 for row in second[case]}
    for row in second[case]:
        net[row[:2]] += {"insert": 1, "delete": -1}[str(row[2])]
    assert net == {(1, "a"): 1, (2, "b"): 1, (3, "c"): 1}


def test_a_feed_is_an_input_in_the_lineage(feeds: Feeds) -> None:
    lab, (first, _) = feeds
    events = lab.log("event_type = 'flow_definition'")
    inputs = {}
    for row in events:
        details = json.loads(row["details"])["flow_definition"]
        inputs[details["output_dataset"].rpartition(".")[2]] = details["input_datasets"]
    for case in first:
        datasets = [each["name"] if isinstance(each, dict) else each for each in inputs[str(case)]]
        assert [each.rpartition(".")[2] for each in datasets] == [f"own_{case.kind}"], case


NO_FEED = """
from pyspark import pipelines as dp

@dp.materialized_view
def own():
    return spark.range(2)

@dp.DECORATOR
def reader():
    return QUERY
"""


@pytest.mark.parametrize(
    ("decorator", "query"),
    [
        ("table", STREAMS["option"]),
        ("materialized_view", BATCHES["option"]),
        ("materialized_view", BATCHES["function"]),
    ],
    ids=["stream", "batch", "function"],
)
def test_a_dataset_without_a_feed_fails_with_deltas_condition(lab: Lab, decorator: str, query: str) -> None:
    lab.file("a.py", NO_FEED.replace("DECORATOR", decorator).replace("QUERY", query.replace("NAME", "own")))
    update: Update = lab.run()
    assert update.state == "FAILED"
    assert (result(update, "own").state, result(update, "reader").state) == ("COMPLETED", "FAILED")
    assert "DELTA_MISSING_CHANGE_DATA" in str(result(update, "reader").error)


def test_an_option_that_is_no_boolean_fails_with_deltas_condition(lab: Lab) -> None:
    query = 'spark.readStream.option("readChangeFeed", "yes").table("own")'
    lab.file("a.py", NO_FEED.replace("DECORATOR", "table").replace("QUERY", query))
    assert "DELTA_ILLEGAL_OPTION" in str(lab.run().error)


def test_an_option_that_is_off_reads_the_rows(lab: Lab) -> None:
    query = 'spark.read.option("readChangeFeed", "false").table("own")'
    lab.file("a.py", NO_FEED.replace("DECORATOR", "materialized_view").replace("QUERY", query))
    lab.done()
    assert lab.rows("reader") == [(0,), (1,)]
