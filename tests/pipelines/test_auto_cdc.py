"""AUTO CDC is a fold by highest sequence, for any order of events and any batches (INV-14, SDP-3)."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lakeward.errors import PipelineError
from lakeward.pipelines.api.flows import parse_change_args
from lakeward.pipelines.api.parameters import function
from lakeward.pipelines.autocdc.auxiliary_table import AuxiliaryTable
from lakeward.pipelines.autocdc.cdc_schema import CdcSchema
from lakeward.pipelines.autocdc.foreach_batch_handler import ForeachBatchHandler
from lakeward.pipelines.autocdc.target_table import TargetTable
from tests.lanes import sampled
from tests.pipelines.conftest import Lab, alter_dataset

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# (key, sequence, operation, name, city); the example of the platform's documentation.
CANONICAL = [
    (124, 1, "INSERT", "Raul", "Oaxaca"),
    (123, 1, "INSERT", "Isabel", "Monterrey"),
    (125, 2, "INSERT", "Mercedes", "Tijuana"),
    (126, 2, "INSERT", "Lily", "Cancun"),
    (123, 6, "DELETE", None, None),
    (125, 6, "UPDATE", "Mercedes", "Guadalajara"),
    (125, 5, "UPDATE", "Mercedes", "Mexicali"),
    (123, 5, "UPDATE", "Isabel", "Chihuahua"),
]
DEFAULTS = {each.name: each.default for each in function("create_auto_cdc_flow").parameters}
SCHEMA = "id int, seq int, op string, name string, city string"
PIPELINE = """
from pyspark import pipelines as dp
from pyspark.sql.functions import col, expr

common = dict(
    source="SRC.feed", keys=["id"], sequence_by=col("seq"), apply_as_deletes=expr("op = 'DELETE'"),
    except_column_list=["op", "seq"],
)
dp.create_streaming_table("one", expect_all_or_drop={"has op": "op IS NOT NULL"})
dp.create_auto_cdc_flow(target="one", apply_as_truncates="op = 'TRUNCATE'", **common)
dp.create_streaming_table("two")
dp.create_auto_cdc_flow(target="two", stored_as_scd_type="2", **common)
"""


def values(events: Iterable[Sequence[Any]]) -> str:
    """SQL for these events."""
    rows = ", ".join(
        "(" + ", ".join("NULL" if v is None else repr(v) for v in event) + ")" for event in events
    )
    types = [field.split()[1] for field in SCHEMA.split(", ")]
    names = [field.split()[0] for field in SCHEMA.split(", ")]
    casts = ", ".join(f"CAST({n} AS {t}) AS {n}" for n, t in zip(names, types, strict=True))
    return f"SELECT {casts} FROM VALUES {rows} AS t({', '.join(names)})"


def test_the_documented_example(lab: Lab) -> None:
    lab.seed("feed", values(CANONICAL))
    lab.file("cdc.py", PIPELINE.replace('expect_all_or_drop={"has op": "op IS NOT NULL"}', ""))
    update = lab.done()
    assert {each.name: each.rows_written for each in update.datasets} == {"one": 3, "two": 7}
    one = {tuple(row) for row in lab.table("one").collect()}
    assert one == {(124, "Raul", "Oaxaca"), (125, "Mercedes", "Guadalajara"), (126, "Lily", "Cancun")}
    two = {tuple(row) for row in lab.table("two").collect()}
    assert two == {
        (123, "Isabel", "Monterrey", 1, 5),
        (123, "Isabel", "Chihuahua", 5, 6),
        (124, "Raul", "Oaxaca", 1, None),
        (125, "Mercedes", "Tijuana", 2, 5),
        (125, "Mercedes", "Mexicali", 5, 6),
        (125, "Mercedes", "Guadalajara", 6, None),
        (126, "Lily", "Cancun", 2, None),
    }
    # A truncate reaches keys that its batch does not contain.
    lab.seed("feed", values([(None, 3, "TRUNCATE", None, None), (126, 4, "UPDATE", "Lily", "Merida")]))
    lab.done(refresh=["one"])
    assert {row.name for row in lab.table("one").collect()} == {"Mercedes", "Lily"}
    before = lab.version("one")
    lab.done(refresh=["one"])
    assert lab.version("one") == before
    lab.done(full_refresh=["one"])
    assert {row.name for row in lab.table("one").collect()} == {"Mercedes", "Lily"}


def interrupted(*_: Any, **__: Any) -> None:
    raise InterruptedError


class Bench:
    """One target with its feed, batches given by hand."""

    def __init__(self, spark: SparkSession, lab: Lab, folder: Path, schema: str, **options: Any) -> None:
        self.spark = spark
        change = parse_change_args(DEFAULTS | options)
        self.schema = schema
        empty = spark.createDataFrame([], schema)
        shape = CdcSchema.of(empty, change)
        self.key = ("main", lab.schema, "t" + folder.name)
        output = shape.output(empty)
        output.write.saveAsTable(".".join(self.key))
        self.feed = ForeachBatchHandler(
            shape, TargetTable(self.key, shape), AuxiliaryTable(folder), f"app {folder.name}", output.schema
        )
        self.numbers = itertools.count()

    def take(self, events: list[tuple[Any, ...]], number: int | None = None) -> None:
        frame = self.spark.createDataFrame(events, self.schema).coalesce(2)
        self.feed.handle_batch(frame, next(self.numbers) if number is None else number)

    def take_dying(
        self,
        events: list[tuple[Any, ...]],
        number: int,
        steps: Iterable[tuple[type, str]],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Die once before each of these steps, then take the batch."""
        for step in steps:
            with monkeypatch.context() as patch:
                patch.setattr(*step, interrupted)
                with pytest.raises(InterruptedError):
                    self.take(events, number)
        self.take(events, number)

    def redeclare(self, **options: Any) -> None:
        """From now on the flow says this, on the same tables."""
        shape = CdcSchema.of(
            self.spark.createDataFrame([], self.schema), parse_change_args(DEFAULTS | options)
        )
        self.feed = dataclasses.replace(self.feed, cdc_schema=shape, target=TargetTable(self.key, shape))

    def rows(self) -> list[tuple[Any, ...]]:
        return sorted(map(tuple, self.spark.table(".".join(self.key)).collect()), key=repr)


KEYED = "example int, id string, seq int, gone boolean, a string, b int"
OPTIONS: dict[str, Any] = {
    "keys": ["example", "id"],
    "sequence_by": "seq",
    "apply_as_deletes": "gone",
    "except_column_list": ["seq", "gone"],
}


def scenarios(seed: int, examples: int = 60) -> list[list[tuple[Any, ...]]]:
    """Many small feeds at once, distinguished by their first column, cut into the same three batches.

    Sequences are distinct within a key: between equal ones any may win.
    """
    chance = random.Random(seed)
    batches: list[list[tuple[Any, ...]]] = [[], [], []]
    for example in range(examples):
        ids = ["x", "y", None][: chance.randint(1, 3)]
        for key in ids:
            sequences = chance.sample([None, *range(12)], chance.randint(1, 8))
            for seq in sequences:
                event = (
                    example,
                    key,
                    seq,
                    chance.random() < 0.25,
                    chance.choice(["p", "q", None]),
                    chance.choice([1, 2, None]),
                )
                for batch in chance.sample(batches, chance.choice([1, 1, 1, 2])):
                    batch.append(event)
        for batch in batches:
            chance.shuffle(batch)
    return batches


def by_key(batches: Iterable[Iterable[tuple[Any, ...]]]) -> dict[Any, list[tuple[Any, ...]]]:
    """The distinct events of every key by sequence, NULL the lowest."""
    found: dict[Any, set[tuple[Any, ...]]] = defaultdict(set)
    for batch in batches:
        for event in batch:
            found[event[:2]].add(event)
    return {
        key: sorted(events, key=lambda event: -1 if event[2] is None else event[2])
        for key, events in found.items()
    }


def over(given: list[Any], before: list[Any]) -> list[Any]:
    """A partial update: what is NULL stays as it was."""
    return [new if new is not None else old for new, old in zip(given, before, strict=True)]


def fold_first(batches: Any, *, partial: bool = False) -> list[tuple[Any, ...]]:
    """SCD type 1 in plain Python."""
    rows = []
    for key, events in by_key(batches).items():
        row: list[Any] | None = None
        for _, _, _, gone, *given in events:
            if gone:
                row = None
            elif row is None or not partial:
                row = list(given)
            else:
                row = over(given, row)
        if row is not None:
            rows.append((*key, *row))
    return sorted(rows, key=repr)


def fold_second(batches: Any, tracked: Sequence[int], *, partial: bool = False) -> list[tuple[Any, ...]]:
    """SCD type 2 in plain Python; `tracked` are positions in (a, b)."""
    rows = []
    for key, events in by_key(batches).items():
        history: list[list[Any]] = []
        is_open = False
        for _, _, seq, gone, *given in events:
            values = over(given, history[-1][0]) if partial and is_open else given
            if gone:
                if is_open:
                    history[-1][-1] = seq
                is_open = False
            elif is_open and all(history[-1][0][i] == values[i] for i in tracked):
                history[-1][0] = values
            else:
                if is_open:
                    history[-1][-1] = seq
                history.append([values, seq, None])
                is_open = True
        rows += [(*key, *given, start, end) for given, start, end in history]
    return sorted(rows, key=repr)


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(20, 30))])
def test_both_types_are_a_fold_whatever_the_order_and_the_batches(
    spark: SparkSession, lab: Lab, tmp_path: Path, seed: int
) -> None:
    batches = scenarios(seed)
    first = Bench(spark, lab, tmp_path / "first", KEYED, **OPTIONS)
    second = Bench(spark, lab, tmp_path / "second", KEYED, stored_as_scd_type=2, **OPTIONS)
    for n, batch in enumerate(batches):
        first.take(batch)
        second.take(batch)
        assert first.rows() == fold_first(batches[: n + 1])
        assert second.rows() == fold_second(batches[: n + 1], [0, 1])
    is_open = [row[:4] for row in second.rows() if row[5] is None and row[4] is not None]
    assert set(is_open) <= set(first.rows())
    before = first.rows(), second.rows()
    first.take(batches[0])
    second.take(batches[0])
    assert (first.rows(), second.rows()) == before, "a replay changes nothing"


def test_columns_that_are_not_tracked_are_overwritten_in_place(
    spark: SparkSession, lab: Lab, tmp_path: Path
) -> None:
    batches = scenarios(4)[:2]
    bench = Bench(
        spark, lab, tmp_path / "t", KEYED, stored_as_scd_type=2, track_history_column_list=["a"], **OPTIONS
    )
    for batch in batches:
        bench.take(batch)
    assert bench.rows() == fold_second(batches, [0])


@pytest.mark.slow
@pytest.mark.parametrize("scd_type", sampled([1, 2], 2))
def test_null_updates_that_are_ignored_keep_the_old_values(
    spark: SparkSession, lab: Lab, tmp_path: Path, scd_type: int
) -> None:
    batches = scenarios(5)[:2]
    options = OPTIONS | {"stored_as_scd_type": scd_type, "ignore_null_updates": True}
    bench = Bench(spark, lab, tmp_path / "t", KEYED, **options)
    for batch in batches:
        bench.take(batch)
    wanted = (
        fold_first(batches, partial=True) if scd_type == 1 else fold_second(batches, [0, 1], partial=True)
    )
    assert bench.rows() == wanted


@pytest.mark.slow
def test_a_partial_update_finds_a_value_that_came_before_the_row_it_ends(
    spark: SparkSession, lab: Lab, tmp_path: Path
) -> None:
    options = OPTIONS | {"stored_as_scd_type": 2, "ignore_null_updates": True}
    bench = Bench(spark, lab, tmp_path / "t", KEYED, **options)
    batches: list[list[tuple[Any, ...]]] = [
        [(0, "k", 1, False, "p", 1), (0, "k", 3, False, None, 2)],
        [(0, "k", 5, False, None, 3)],
    ]
    for batch in batches:
        bench.take(batch)
    assert bench.rows() == fold_second(batches, [0, 1], partial=True)
    assert [row[2] for row in bench.rows()] == ["p", "p", "p"]


@pytest.mark.slow
def test_a_late_event_inside_a_run_splits_it(spark: SparkSession, lab: Lab, tmp_path: Path) -> None:
    # Values of a run are those of its last event, on both sides of the split.
    bench = Bench(
        spark,
        lab,
        tmp_path / "t",
        "id int, seq int, name string",
        keys=["id"],
        sequence_by="seq",
        stored_as_scd_type=2,
        track_history_except_column_list=["seq"],
    )
    bench.take([(1, 5, "Alice"), (1, 10, "Alice"), (1, 15, "Alice"), (1, 20, "Charlie")])
    assert bench.rows() == [(1, 15, "Alice", 5, 20), (1, 20, "Charlie", 20, None)]
    bench.take([(1, 12, "Bob")])
    assert bench.rows() == [
        (1, 10, "Alice", 5, 12),
        (1, 12, "Bob", 12, 15),
        (1, 15, "Alice", 15, 20),
        (1, 20, "Charlie", 20, None),
    ]


@pytest.mark.parametrize("scd_type", sampled([1, 2], 2))
def test_ties_end_the_same_in_any_order_and_null_conditions_delete_nothing(
    spark: SparkSession, lab: Lab, tmp_path: Path, scd_type: int
) -> None:
    events = [
        (0, "tie", 5, False, "p", 1),
        (0, "tie", 5, False, "q", 2),
        (0, "gone", 5, False, "p", 1),
        (0, "gone", 5, True, None, None),
        (0, "stays", 5, None, "p", 1),
    ]
    found = []
    for n, batches in enumerate(([events], [events[::-1]])):
        bench = Bench(spark, lab, tmp_path / f"t{n}", KEYED, stored_as_scd_type=scd_type, **OPTIONS)
        for batch in batches:
            bench.take(batch)
        found.append(bench.rows())
    assert found[0] == found[1]
    assert [row[1] for row in found[0]] == ["stays", "tie"], "a delete wins over an upsert (rule e, assumed)"


@pytest.mark.slow
def test_a_tie_that_comes_later_joins_what_a_row_had_parted(
    spark: SparkSession, lab: Lab, tmp_path: Path
) -> None:
    # Which value wins at 5 is not said; for one of the two keys it is the one that came last.
    batches: list[list[tuple[Any, ...]]] = [
        [(0, "x", 1, False, "p", 1), (0, "y", 1, False, "q", 1)],
        [(0, "x", 5, False, "q", 1), (0, "y", 5, False, "p", 1)],
        [(0, "x", 5, False, "p", 1), (0, "y", 5, False, "q", 1)],
    ]
    found = []
    for n, parts in enumerate((batches, [list(itertools.chain(*batches))])):
        bench = Bench(spark, lab, tmp_path / f"t{n}", KEYED, stored_as_scd_type=2, **OPTIONS)
        for batch in parts:
            bench.take(batch)
        found.append(bench.rows())
    assert found[0] == found[1]
    spans = sorted((row[4:] for row in found[0]), key=repr)
    assert spans == [(1, 5), (1, None), (5, None)]


@pytest.mark.parametrize("scd_type", sampled([1, 2], 2))
def test_a_batch_that_died_before_either_of_its_commits_ends_the_same(
    spark: SparkSession, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scd_type: int
) -> None:
    batches = scenarios(6, examples=20)[:2]
    bench = Bench(spark, lab, tmp_path / "t", KEYED, stored_as_scd_type=scd_type, **OPTIONS)
    for number, batch in enumerate(batches):
        bench.take_dying(batch, number, [(TargetTable, "write"), (AuxiliaryTable, "add")], monkeypatch)
    wanted = fold_first(batches) if scd_type == 1 else fold_second(batches, [0, 1])
    assert bench.rows() == wanted


@pytest.mark.slow
@pytest.mark.parametrize("scd_type", sampled([1, 2], 2))
def test_a_batch_reads_only_files_that_can_contain_its_keys(
    spark: SparkSession, lab: Lab, tmp_path: Path, scd_type: int
) -> None:
    """The files of other keys are moved away: a batch that reads them fails."""
    bench = Bench(spark, lab, tmp_path / "t", KEYED, stored_as_scd_type=scd_type, **OPTIONS)
    first = [(0, "k", 1, False, "p", 1), (0, None, 1, False, "p", 1)]
    bench.take(first)
    target, stored = spark.table(".".join(bench.key)), bench.feed.auxiliary_table.rows(spark)
    assert stored is not None
    files = [Path(each.removeprefix("file:")) for rows in (target, stored) for each in rows.inputFiles()]
    away = [file.rename(file.with_suffix(".away")) for file in files]
    batches: list[list[tuple[Any, ...]]] = [
        [(5, "k", 1, False, "p", 1), (6, None, 1, False, "p", 1)],
        [(5, "k", 3, False, "q", 1), (6, None, 2, True, None, None)],
        [(5, "k", 2, False, "late", 1), (7, "k", 1, False, "p", 1)],
    ]
    for batch in batches:
        bench.take(batch)
    for file, moved in zip(files, away, strict=True):
        moved.rename(file)
    wanted = fold_first([first, *batches]) if scd_type == 1 else fold_second([first, *batches], [0, 1])
    assert bench.rows() == wanted


@pytest.mark.slow
def test_of_the_stored_events_only_those_since_the_batch_are_read(
    spark: SparkSession, lab: Lab, tmp_path: Path
) -> None:
    """The row that contains a late event represents the events before it; their file is moved away."""
    bench = Bench(spark, lab, tmp_path / "t", KEYED, stored_as_scd_type=2, **OPTIONS)
    bench.take([(0, "k", 1, False, "p", 1)])
    stored = bench.feed.auxiliary_table.rows(spark)
    assert stored is not None
    (file,) = [Path(each.removeprefix("file:")) for each in stored.inputFiles()]
    bench.take([(0, "k", 5, False, "q", 1)])
    file.rename(file.with_suffix(".away"))
    bench.take([(0, "k", 3, False, "late", 1)])
    spans = [(0, "k", "late", 1, 3, 5), (0, "k", "p", 1, 1, 3), (0, "k", "q", 1, 5, None)]
    assert bench.rows() == spans


@pytest.mark.slow
def test_events_that_the_target_refuses_are_not_remembered(
    spark: SparkSession, lab: Lab, tmp_path: Path
) -> None:
    """The commits of a batch do not overlap: a user filters the refused event, and the batch is repeated."""
    bench = Bench(spark, lab, tmp_path / "t", KEYED, stored_as_scd_type=2, **OPTIONS)
    bench.take([(0, "k", 1, False, "p", 1)])
    alter_dataset(spark, f"ALTER TABLE {'.'.join(bench.key)} ADD CONSTRAINT small CHECK (b < 100)")
    with pytest.raises(Exception, match="CONSTRAINT"):
        bench.take([(0, "k", 2, False, "q", 500)], 1)
    bench.take([(0, "k", 3, False, "r", 2)], 1)
    assert bench.rows() == [(0, "k", "p", 1, 1, 3), (0, "k", "r", 2, 3, None)]


@pytest.mark.slow
def test_rules_of_the_target_are_counted_on_the_feed_and_new_columns_arrive(lab: Lab) -> None:
    lab.seed("feed", values([*CANONICAL, (130, 1, None, "None", "Nowhere")]))
    lab.file("cdc.py", PIPELINE)
    update = lab.done(refresh=["one"])
    one = next(each for each in update.datasets if each.name == "one")
    assert [(rule.name, rule.passed, rule.failed) for rule in one.expectations] == [("has op", 8, 1)]
    assert lab.table("one").count() == 3
    lab.spark.sql(f"ALTER TABLE main.{lab.source}.feed ADD COLUMN email STRING")
    lab.spark.sql(f"INSERT INTO main.{lab.source}.feed VALUES (126, 9, 'UPDATE', 'Lily', 'Cancun', 'l@x')")
    lab.done(refresh=["one"])
    assert lab.table("one").where("id = 126").first().email == "l@x"


@pytest.mark.parametrize(
    ("wrong", "condition"),
    [
        ({"keys": []}, "AUTOCDC_EMPTY_KEYS"),
        ({"stored_as_scd_type": "bitemporal"}, "INVALID_AUTO_CDC_ARGUMENTS"),
        ({"stored_as_scd_type": 2, "system_sequence_by": "seq"}, "INVALID_AUTO_CDC_ARGUMENTS"),
        ({"stored_as_scd_type": 3}, "INVALID_SCD_TYPE"),
        (
            {"column_list": ["a"], "except_column_list": ["b"]},
            "AUTOCDC_BOTH_COLUMN_LIST_AND_EXCEPT_COLUMN_LIST",
        ),
        ({"stored_as_scd_type": 2, "apply_as_truncates": "a"}, "INVALID_AUTO_CDC_ARGUMENTS"),
        ({"track_history_column_list": ["a"]}, "INVALID_AUTO_CDC_ARGUMENTS"),
    ],
)
def test_arguments_that_contradict_are_refused(wrong: dict[str, Any], condition: str) -> None:
    with pytest.raises(PipelineError) as raised:
        parse_change_args(DEFAULTS | {"keys": ["id"], "sequence_by": "seq"} | wrong)
    assert raised.value.condition == condition


@pytest.mark.parametrize("scd_type", [1, 2])
def test_an_empty_list_of_columns_is_one_that_is_not_given(scd_type: int) -> None:
    given = DEFAULTS | {"keys": ["id"], "sequence_by": "seq", "stored_as_scd_type": scd_type}
    kinds = ("", "track_history_", "ignore_null_updates_")
    empty = {f"{kind}{name}": [] for kind in kinds for name in ("column_list", "except_column_list")}
    assert parse_change_args(given | empty) == parse_change_args(given)
    named = {"except_column_list": ["b"], **({"track_history_column_list": ["a"]} if scd_type == 2 else {})}
    assert parse_change_args(given | empty | named) == parse_change_args(given | named)
