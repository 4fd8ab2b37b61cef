"""AUTO CDC from snapshots: the differences between them as a history (SDP-3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import Row

from lakeward.errors import PipelineError
from lakeward.pipelines.autocdc.foreach_batch_handler import ForeachBatchHandler
from lakeward.pipelines.autocdc.snapshots import (
    SnapshotStore,
    check_version,
    version_from_json,
    version_to_json,
)
from lakeward.pipelines.graph.elements import Flow, SourceCodeLocation
from lakeward.pipelines.writers.auto_cdc import _next_snapshot
from tests.lanes import sampled
from tests.pipelines.conftest import Lab, result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HISTORY = """
from pathlib import Path
from pyspark import pipelines as dp

def following(last):
    files = sorted(Path("FOLDER").glob("*.csv*"))
    later = [file for file in files if last is None or int(file.name[:3]) > last]
    if not later:
        return None
    rows = spark.read.option("header", True).csv(str(later[0]))
    return rows.toDF(*[name.replace(" ", "_") for name in rows.columns]), int(later[0].name[:3])

for kind in KINDS:
    dp.create_streaming_table(f"kind{kind}")
    dp.create_auto_cdc_from_snapshot_flow(
        target=f"kind{kind}", source=following, keys=["Symbol"], stored_as_scd_type=kind
    )
"""
# Runs of equal rows in successive snapshots, by window functions over all of them.
ORACLE = """
WITH raw AS (
  SELECT *, CAST(regexp_extract(filename, '(\\d{3})_[^/]*$', 1) AS INT) AS n
  FROM read_csv(FILES, union_by_name => true, all_varchar => true, header => true, filename => true)
), present AS (SELECT n, dense_rank() OVER (ORDER BY n) AS k FROM (SELECT DISTINCT n FROM raw)),
rows_ AS (SELECT {NAMES} AS v, k, n, Symbol FROM raw JOIN present USING (n)),
marked AS (
  SELECT *, CASE WHEN lag(k) OVER w = k - 1 AND lag(v) OVER w IS NOT DISTINCT FROM v THEN 0 ELSE 1 END AS new
  FROM rows_ WINDOW w AS (PARTITION BY Symbol ORDER BY k)
), runs AS (SELECT *, sum(new) OVER (PARTITION BY Symbol ORDER BY k) AS run FROM marked)
SELECT v, min(n), (SELECT min(n) FROM present p WHERE p.k = max(runs.k) + 1)
FROM runs GROUP BY Symbol, run, v
"""


def expected(files: Sequence[Path], names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The history by DuckDB: the columns `names`, start and end."""
    import duckdb

    listed = "[" + ", ".join(f"'{file}'" for file in files) + "]"
    row = "{" + ", ".join(f"'c{i}': \"{name.replace('_', ' ')}\"" for i, name in enumerate(names)) + "}"
    query = duckdb.sql(ORACLE.replace("FILES", listed).replace("{NAMES}", row))
    assert query is not None
    found = query.fetchall()
    return sorted(((*values.values(), start, end) for values, start, end in found), key=repr)


def check_against_duckdb(lab: Lab, files: Sequence[Path], kind: int, rounds: int) -> None:
    folder = lab.folder / "snapshots"
    folder.mkdir()
    lab.file("cdc.py", HISTORY.replace("FOLDER", str(folder)).replace("KINDS", f"[{kind}]"))
    size = -(-len(files) // rounds)
    for at in range(0, len(files), size):
        for file in files[at : at + size]:
            (folder / file.name).symlink_to(file)
        lab.done()
    table = f"kind{kind}"
    names = [name for name in lab.table(table).columns if not name.startswith("__")]
    quoted = ", ".join(f"`{name}`" for name in names)
    wanted = expected(files, names)
    if kind == 1:
        assert lab.rows(table, quoted) == sorted((row[:-2] for row in wanted if row[-1] is None), key=repr)
    else:
        assert lab.rows(table, f"{quoted}, __START_AT, __END_AT") == wanted


# At the changes of the header: five columns come, one is renamed, and it is named as before again.
SAMPLE = (63, 64, 151, 152)


@pytest.mark.parametrize(
    ("kind", "sample", "rounds"),
    [
        (2, SAMPLE[1:3], 1),
        pytest.param(2, SAMPLE, 1, marks=pytest.mark.slow),
        pytest.param(2, SAMPLE, 4, marks=pytest.mark.slow),
        pytest.param(1, SAMPLE, 2, marks=pytest.mark.slow),
    ],
)
def test_real_snapshots_give_the_history_that_duckdb_gives(
    lab: Lab, data: Path, kind: int, sample: Sequence[int], rounds: int
) -> None:
    files = sorted((data / "constituents").iterdir())
    check_against_duckdb(lab, [files[n] for n in sample], kind, rounds)


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [1, 190])
def test_all_real_snapshots_give_the_history_that_duckdb_gives(lab: Lab, data: Path, rounds: int) -> None:
    check_against_duckdb(lab, sorted((data / "constituents").iterdir()), 2, rounds)


PERIODIC = """
import dlt
@dlt.view
def people(): return spark.read.table("SRC.people")
dlt.create_streaming_table("now")
dlt.apply_changes_from_snapshot(target="now", source="people", keys=["id"], stored_as_scd_type="2")
"""


def replace(lab: Lab, rows: str) -> None:
    lab.spark.sql(
        f"CREATE OR REPLACE TABLE main.{lab.source}.people AS SELECT * FROM VALUES {rows} t(id, name)"
    )


@pytest.mark.slow
@pytest.mark.parametrize("declared", sampled(["INT", "BIGINT"], "INT"))
def test_int_versions_may_be_declared_as_int(lab: Lab, declared: str) -> None:
    lab.file("cdc.py", f"""
        import dlt
        columns = "id BIGINT, x STRING, __START_AT {declared}, __END_AT {declared}"
        dlt.create_streaming_table("t", schema=columns)
        def next_one(last):
            version = (last or 0) + 1
            if version > int(spark.conf.get("until")):
                return None
            return spark.range(2).selectExpr("id", f"CAST(id * {{version}} AS STRING) x"), version
        dlt.create_auto_cdc_from_snapshot_flow("t", source=next_one, keys=["id"], stored_as_scd_type=2)
    """)  # fmt: skip
    lab.done(configuration={"until": "2"})
    lab.done(configuration={"until": "3"})
    assert {field.dataType.simpleString() for field in lab.table("t").schema.fields[2:]} == {declared.lower()}
    assert lab.rows("t") == [
        (0, "0", 1, None),
        *[(1, str(version), version, version + 1 if version < 3 else None) for version in (1, 2, 3)],
    ]


def test_a_version_that_a_declared_int_cannot_have_fails(lab: Lab) -> None:
    lab.file("cdc.py", """
        import dlt
        dlt.create_streaming_table("t", schema="id BIGINT, __START_AT INT, __END_AT INT")
        dlt.create_auto_cdc_from_snapshot_flow(
            "t", source=lambda last: None if last else (spark.range(1), 2**31), keys=["id"],
            stored_as_scd_type=2)
    """)  # fmt: skip
    update = lab.run()
    assert update.state == "FAILED"
    assert "INVALID_SNAPSHOT_VERSION_TYPE" in str(result(update, "t").error)
    assert "as BIGINT" in str(result(update, "t").error)


@pytest.mark.parametrize(
    "parameter", ["track_history_column_list", "track_history_except_column_list", "keys"]
)
def test_suggestions_for_an_unknown_column_are_columns_of_the_snapshot(lab: Lab, parameter: str) -> None:
    lists = {"keys": ["id"], parameter: ["nmae"]}
    lab.file("cdc.py", f"""
        import dlt
        dlt.create_streaming_table("t")
        dlt.create_auto_cdc_from_snapshot_flow(
            "t", source=lambda last: None if last else (spark.sql("SELECT 1 AS id, 'Ann' AS name"), 1),
            stored_as_scd_type=2, **{lists})
    """)  # fmt: skip
    error = str(result(lab.run(), "t").error)
    assert "AUTOCDC_" in error
    assert "`name`" in error
    assert "__lakeward" not in error


def test_a_table_is_one_snapshot_an_update_with_the_time_for_its_version(lab: Lab) -> None:
    lab.file("cdc.py", PERIODIC)
    replace(lab, "(1, 'Ann'), (2, 'Bob'), (NULL, 'Unnamed')")
    update = lab.done()
    assert result(update, "now").rows_written == 3
    version = lab.version("now")
    assert result(lab.done(), "now").rows_written == 0 and lab.version("now") == version
    replace(lab, "(1, 'Anna'), (NULL, 'Unnamed'), (3, 'Cy')")
    lab.done()
    rows = lab.rows("now", "id, name, __START_AT, __END_AT")
    is_open = {row[:2] for row in rows if row[3] is None}
    assert is_open == {(1, "Anna"), (None, "Unnamed"), (3, "Cy")}
    assert {row[:2] for row in rows if row[3] is not None} == {(1, "Ann"), (2, "Bob")}
    assert len({row[3] for row in rows if row[3] is not None}) == 1
    lab.done(full_refresh_all=True)
    assert {row[:2] for row in lab.rows("now", "id, name, __END_AT")} == is_open


@pytest.mark.slow
@pytest.mark.parametrize("dies_in", ["handle_batch", "mark_applied"])
def test_a_kill_while_a_snapshot_is_applied_loses_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, dies_in: str
) -> None:
    def killed(*_: Any) -> None:
        raise InterruptedError("killed")

    lab.file("cdc.py", PERIODIC)
    replace(lab, "(1, 'Ann'), (2, 'Bob')")
    lab.done()
    replace(lab, "(1, 'Ann'), (3, 'Cy')")
    owner = ForeachBatchHandler if dies_in == "handle_batch" else SnapshotStore
    with monkeypatch.context() as patch:
        patch.setattr(owner, dies_in, killed)
        assert "killed" in str(lab.run().error)
    # What was killed is finished first: Cy was there, and is gone again.
    replace(lab, "(1, 'Ann')")
    lab.done()
    ended = [(row[0], row[1] is None) for row in lab.rows("now", "id, __END_AT")]
    assert ended == [(1, True), (2, False), (3, False)]


@pytest.mark.slow
def test_a_snapshot_with_two_rows_of_a_key_changes_nothing(lab: Lab) -> None:
    lab.file("cdc.py", PERIODIC)
    replace(lab, "(1, 'Ann')")
    lab.done()
    replace(lab, "(1, 'Ann'), (1, 'Anna')")
    error = str(lab.run().error)
    assert "APPLY_CHANGES_FROM_SNAPSHOT_ERROR.DUPLICATE_KEY_VIOLATION" in error
    assert "2 rows for the key '{\"id\":1}'" in error
    assert lab.rows("now", "id, name, __END_AT") == [(1, "Ann", None)]
    replace(lab, "(1, 'Anna')")
    lab.done()
    assert len(lab.rows("now")) == 2


@pytest.mark.slow
def test_a_pair_is_applied_once_and_once_means_once(lab: Lab) -> None:
    lab.seed("people", "SELECT 1 id, 'Ann' name")
    text = """
import dlt
dlt.create_streaming_table("pair")
dlt.apply_changes_from_snapshot(
    target="pair", snapshot_and_version=(spark.table("SRC.people"), VERSION), keys=["id"]
)
dlt.create_streaming_table("first")
dlt.apply_changes_from_snapshot(target="first", source="SRC.people", keys="id", once=True)
"""
    lab.file("cdc.py", text.replace("VERSION", "7"))
    lab.done()
    lab.seed("people", "SELECT 2 id, 'Bob' name")
    lab.done()
    assert lab.rows("pair", "id") == lab.rows("first", "id") == [(1,)]
    lab.file("cdc.py", text.replace("VERSION", "8"))
    lab.done()
    assert (lab.rows("pair", "id"), lab.rows("first", "id")) == ([(1,), (2,)], [(1,)])
    lab.file("cdc.py", text.replace("VERSION", "6"))
    assert "OUT_OF_ORDER_SNAPSHOT_VERSION" in str(lab.run(dry_run=True).error)


VERSIONS = [
    7,
    "2024-01-31",
    1.5,
    b"\x00\x01",
    Decimal("1.25"),
    date(2024, 1, 31),
    datetime(2024, 1, 31, 12, tzinfo=timezone.utc),
    Row(at=datetime(2024, 1, 31, 12, tzinfo=timezone.utc), path="x"),
]


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: type(version).__name__)
def test_a_version_keeps_its_type(version: Any) -> None:
    kept = version_from_json(version_to_json(version))
    assert kept == version and type(kept) is type(version)


def flow(source: Any) -> Flow:
    return Flow(
        "history",
        ("main", "default", "t"),
        lambda: None,
        SourceCodeLocation("f.py", 1),
        snapshot_source=source,
    )


def condition(given: Any, last: Any = None, *, as_pair: bool = False) -> str:
    with pytest.raises(PipelineError) as raised:
        _next_snapshot(flow(given if as_pair else lambda _: given), last)
    return raised.value.condition.removeprefix("APPLY_CHANGES_FROM_SNAPSHOT_ERROR.")


def test_every_wrong_answer_has_its_condition(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    frame = spark.range(1)
    assert condition(None) == "FIRST_SNAPSHOT_EMPTY"
    assert condition(frame) == "INVALID_SNAPSHOT_VERSION"
    assert condition((frame, 1, 2)) == "INVALID_SNAPSHOT_VERSION"
    assert condition((frame, None)) == "INVALID_TUPLE_NULL_SNAPSHOT_VERSION"
    assert condition((frame, None), as_pair=True) == "NULL_SNAPSHOT_VERSION"
    assert condition((frame, F.max("id"))) == "DYNAMIC_SNAPSHOT_VERSION"
    assert condition((frame, [1])) == condition((frame, True)) == "INVALID_SNAPSHOT_VERSION_TYPE"
    assert condition((frame, "b"), 1) == condition((frame, float("nan"))) == "SNAPSHOT_VERSION_NOT_SORTABLE"
    assert condition((frame, 1), 2) == condition((frame, 2), 2) == "OUT_OF_ORDER_SNAPSHOT_VERSION"
    assert _next_snapshot(flow(lambda last: None), 3) is None


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: type(version).__name__)
def test_a_first_version_of_any_type_is_taken(version: Any) -> None:
    check_version(version, None, "history")


IN_SQL = """
CREATE OR REFRESH STREAMING TABLE people;
CREATE FLOW snapshots AS AUTO CDC INTO people
FROM SNAPSHOT (SELECT id, name FROM SRC.versions WHERE v = (SELECT version.v FROM current_snapshot_version()))
WITH VERSION (
  SELECT struct(v) AS version FROM SRC.versions
  WHERE NOT EXISTS (SELECT 1 FROM last_snapshot_version())
     OR struct(v) > (SELECT version FROM last_snapshot_version())
  ORDER BY v LIMIT 1)
KEYS (id) STORED AS SCD TYPE 2;
"""


@pytest.mark.slow
def test_sql_selects_the_next_version_by_the_last_one(lab: Lab) -> None:
    lab.seed("versions", "SELECT 1 v, 1 id, 'a' name WHERE false")
    lab.file("a.sql", IN_SQL)
    lab.done()
    assert lab.rows("people") == [], "no version, no snapshot"
    lab.seed(
        "versions", "SELECT * FROM VALUES (1, 1, 'Ann'), (1, 2, 'Bob'), (2, 1, 'Anna') AS t(v, id, name)"
    )
    lab.done()
    lab.done()
    columns = "id, name, __START_AT.v, __END_AT.v"
    assert lab.rows("people", columns) == [(1, "Ann", 1, 2), (1, "Anna", 2, None), (2, "Bob", 1, 2)]


def test_snapshots_do_not_share_their_target(lab: Lab) -> None:
    lab.seed("people", "SELECT 1 id, 'Ann' name")
    lab.file("cdc.py", """
        import dlt
        dlt.create_streaming_table("two")
        dlt.apply_changes_from_snapshot(target="two", source="SRC.people", keys=["id"])
        dlt.apply_changes_from_snapshot(target="two", source="SRC.people", keys=["id"], name="other")
        dlt.create_streaming_table("ruled", expect_all={"named": "name IS NOT NULL"})
        dlt.apply_changes_from_snapshot(target="ruled", source="SRC.people", keys=["id"])
        dlt.create_streaming_table("streamed")
        @dlt.view
        def stream(): return spark.readStream.table("SRC.people")
        dlt.apply_changes_from_snapshot(target="streamed", source="stream", keys=["id"])
    """)  # fmt: skip
    error = str(lab.run(dry_run=True).error)
    assert "MULTIPLE_QUERIES_FOR_TABLE" in error and "cdc.py:5" in error
    assert "ACFS_WITH_EXPECTATION_DISABLED" in error
    assert "INCOMPATIBLE_VIEW_CHECK" in error
