"""AUTO CDC type 1 with a target that contains the sequence: batches are one MERGE (INV-14, SDP-3.2)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lakeward.pipelines.api.flows import parse_change_args
from lakeward.pipelines.autocdc.auxiliary_table import AuxiliaryTable
from lakeward.pipelines.autocdc.cdc_schema import CdcSchema
from lakeward.pipelines.autocdc.foreach_batch_handler import ForeachBatchHandler
from lakeward.pipelines.autocdc.scd1_in_target import find_sequence_column
from lakeward.pipelines.autocdc.target_table import TargetTable
from tests.lanes import sampled
from tests.pipelines.conftest import Lab, alter_dataset
from tests.pipelines.test_auto_cdc import (
    DEFAULTS,
    KEYED,
    OPTIONS,
    Bench,
    by_key,
    fold_first,
    scenarios,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CARRIED = OPTIONS | {"except_column_list": ["gone"]}
SEQ = 2


def without_sequence(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted((row[:SEQ] + row[SEQ + 1 :] for row in rows), key=repr)


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(40, 50))])
def test_the_target_is_a_fold_whatever_the_order_and_the_batches(
    spark: SparkSession, lab: Lab, tmp_path: Path, seed: int
) -> None:
    batches = scenarios(seed)
    bench = Bench(spark, lab, tmp_path / "t", KEYED, **CARRIED)
    for n, batch in enumerate(batches):
        bench.take(batch)
        assert without_sequence(bench.rows()) == fold_first(batches[: n + 1])
    last = {key: events[-1][SEQ] for key, events in by_key(batches).items()}
    assert {row[:2]: row[SEQ] for row in bench.rows()}.items() <= last.items()
    before = bench.rows()
    bench.take(batches[0])
    assert bench.rows() == before, "a replay changes nothing"
    stored = bench.feed.auxiliary_table.rows(spark)
    assert stored is not None and not stored.where("__down IS NULL OR __up IS NOT NULL").count()


def test_without_deletes_there_is_no_auxiliary_table(spark: SparkSession, lab: Lab, tmp_path: Path) -> None:
    bench = Bench(spark, lab, tmp_path / "t", KEYED, **CARRIED)
    bench.take([(0, "k", 5, False, "p", 1), (0, "k", 4, False, "late", 1)])
    bench.take([(0, "k", 3, False, "later", 1), (0, None, 1, None, "q", 2)])
    assert bench.rows() == [(0, "k", 5, "p", 1), (0, None, 1, "q", 2)]
    assert not bench.feed.auxiliary_table.exists


def test_a_delete_of_a_null_key_without_a_row_is_none(spark: SparkSession, lab: Lab, tmp_path: Path) -> None:
    """Delta takes it for matched where a MERGE marks rows, since NULL equals the NULL of a missing row."""
    bench = Bench(spark, lab, tmp_path / "t", KEYED, **CARRIED)
    properties = "'delta.enableDeletionVectors' = 'true'"
    alter_dataset(spark, f"ALTER TABLE {'.'.join(bench.key)} SET TBLPROPERTIES ({properties})")
    bench.take([(0, "k", 1, False, "p", 1)])
    bench.take([(0, "k", 2, False, "q", 1), (None, None, 1, True, "gone", 1)])
    assert bench.rows() == [(0, "k", 2, "q", 1)]


def test_appended_rows_are_counted_without_those_that_a_delete_removes(
    spark: SparkSession, lab: Lab, tmp_path: Path
) -> None:
    bench = Bench(spark, lab, tmp_path / "t", KEYED, **CARRIED)
    counts = []
    for batch in (
        [(0, "a", 1, False, "p", 1), (0, "b", 1, False, "p", 1)],
        [(1, "a", 1, False, "p", 1), (1, "b", 1, True, "gone", 1), (1, "c", 2, True, "gone", 1)],
        [(2, "a", 1, False, "p", 1), (1, "c", 1, False, "before its delete", 1)],
    ):
        bench.feed._has_new_keys = True
        bench.take(batch)
        counts.append(bench.feed.merge_metrics.upserted)
    assert counts == [2, 3, 4]
    assert len(bench.rows()) == counts[-1]


@pytest.mark.slow
def test_keys_that_no_file_can_contain_are_appended(
    spark: SparkSession, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(spark, lab, tmp_path / "t", KEYED, **CARRIED)
    first = [(0, "a", 1, False, "p", 1), (0, "b", 1, False, "p", 1), (0, "c", 2, True, "p", 1)]
    steps = [(TargetTable, "append"), (AuxiliaryTable, "add")]
    bench.take_dying(first, next(bench.numbers), steps, monkeypatch)
    batches = [
        ([(0, "c", 1, False, "before its delete", 1), (0, "d", 1, False, "p", 1)], "WRITE"),
        ([(1, None, 1, False, "p", 1)], "WRITE"),
        ([(1, None, 1, False, "p", 1)], "MERGE"),
        ([(2, "a", 2, False, "p", 1), (2, "b", 1, True, "p", 1)], "WRITE"),
        ([(2, "a", 1, False, "late", 1), (2, "z", 1, False, "p", 1)], "MERGE"),
        # In one update keys are looked up until some are there.
        ([(3, "a", 1, False, "p", 1)], "MERGE"),
    ]
    for batch, operation in batches:
        if operation == "WRITE":
            bench.feed._has_new_keys = True
        bench.take(batch)
        history = spark.sql(f"DESCRIBE HISTORY {'.'.join(bench.key)}").where("operation <> 'OPTIMIZE'")
        assert history.collect()[0]["operation"] == operation, batch
    keys = [(0, "a"), (0, "b"), (0, "d"), (1, None), (2, "a"), (2, "z"), (3, "a")]
    assert [row[:2] for row in bench.rows()] == keys and "late" not in str(bench.rows())


@pytest.mark.slow
def test_ties_end_the_same_in_any_order_and_a_delete_wins(
    spark: SparkSession, lab: Lab, tmp_path: Path
) -> None:
    events = [
        (0, "tie", 5, False, "p", 1),
        (0, "tie", 5, False, "q", 2),
        (0, "gone", 5, False, "p", 1),
        (0, "gone", 5, True, None, None),
    ]
    found = []
    for n, batches in enumerate((events, events[::-1])):
        bench = Bench(spark, lab, tmp_path / f"t{n}", KEYED, **CARRIED)
        for event in batches:
            bench.take([event])
        found.append(bench.rows())
    assert found[0] == found[1]
    assert [row[1] for row in found[0]] == ["tie"]


def test_a_batch_that_died_before_either_of_its_commits_ends_the_same(
    spark: SparkSession, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INV-22: between the target's commit and that of the side table, too."""
    batches = scenarios(6, examples=20)[:2]
    bench = Bench(spark, lab, tmp_path / "t", KEYED, **CARRIED)
    for number, batch in enumerate(batches):
        # No file of an empty target can contain a key.
        write = "merge" if number else "append"
        bench.take_dying(batch, number, [(TargetTable, write), (AuxiliaryTable, "add")], monkeypatch)
    assert without_sequence(bench.rows()) == fold_first(batches)


_LATER = [{"sequence_by": "seq + 0"}, {"apply_as_truncates": "a = 'all'"}]


@pytest.mark.slow
@pytest.mark.parametrize("later", sampled(_LATER, _LATER[0]), ids=str)
def test_a_flow_that_no_longer_leaves_it_to_the_target_knows_what_is_there(
    spark: SparkSession, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: dict[str, Any]
) -> None:
    first, *rest = scenarios(7, examples=20)
    bench = Bench(spark, lab, tmp_path / "t", KEYED, **CARRIED)
    bench.take(first)
    bench.redeclare(**CARRIED | later)
    for number, batch in enumerate(rest, start=1):
        dying = [(AuxiliaryTable, "clear_target_sequence_column")] if number == 1 else []
        bench.take_dying(batch, number, dying, monkeypatch)
    assert without_sequence(bench.rows()) == fold_first([first, *rest])


@pytest.mark.slow
def test_updates_that_become_partial_keep_the_values_that_are_there(
    spark: SparkSession, lab: Lab, tmp_path: Path
) -> None:
    bench = Bench(spark, lab, tmp_path / "t", KEYED, **CARRIED)
    bench.take([(0, "k", 5, False, "p", None), (0, "l", 5, False, "p", 1)])
    bench.redeclare(**CARRIED, ignore_null_updates=True)
    bench.take([(0, "k", 6, False, None, 2), (0, "l", 4, False, "late", 2)])
    assert bench.rows() == [(0, "k", 6, "p", 2), (0, "l", 5, "p", 1)]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, "seq"),
        ({"sequence_by": "SEQ"}, "seq"),
        ({"sequence_by": lambda F: F.col("seq")}, "seq"),
        ({"sequence_by": lambda F: F.expr("seq + 1").alias("seq")}, None),
        ({"sequence_by": lambda F: F.struct("seq", "b")}, None),
        ({"except_column_list": ["seq", "gone"]}, None),
        ({"apply_as_truncates": "gone"}, None),
        ({"ignore_null_updates": True}, None),
    ],
)
def test_only_a_sequence_that_the_target_holds_as_it_came_is_left_to_it(
    spark: SparkSession, tmp_path: Path, options: dict[str, Any], wanted: str | None
) -> None:
    from pyspark.sql import functions as F

    given = {name: value(F) if callable(value) else value for name, value in (CARRIED | options).items()}
    source = spark.createDataFrame([], KEYED)
    shape = CdcSchema.of(source, parse_change_args(DEFAULTS | given))
    assert find_sequence_column(shape, source, shape.output(source).schema) == wanted
    wider = shape.output(source.withColumn("seq", F.col("seq").cast("bigint"))).schema
    assert find_sequence_column(shape, source, wider) is None, (
        "a cast may lose what tells two sequences apart"
    )


@pytest.mark.slow
def test_two_flows_with_other_sequences_are_compared_by_the_auxiliary_table(
    spark: SparkSession, lab: Lab, tmp_path: Path
) -> None:
    """Of the target's row neither column says what both flows have brought."""
    bench = Bench(spark, lab, tmp_path / "t", KEYED, **CARRIED)
    bench.take([(0, "k", 5, False, "p", 9)])
    shape = CdcSchema.of(
        spark.createDataFrame([], KEYED), parse_change_args(DEFAULTS | CARRIED | {"sequence_by": "b"})
    )
    other = ForeachBatchHandler(
        shape, TargetTable(bench.key, shape), bench.feed.auxiliary_table, "other flow", bench.feed.schema
    )
    other.handle_batch(spark.createDataFrame([(0, "k", 9, False, "older", 4)], KEYED), 0)
    assert bench.rows() == [(0, "k", 5, "p", 9)]
    other.handle_batch(spark.createDataFrame([(0, "k", 1, False, "newer", 6)], KEYED), 1)
    bench.take([(0, "k", 5, False, "old", 0)])
    assert bench.rows() == [(0, "k", 1, "newer", 6)]
