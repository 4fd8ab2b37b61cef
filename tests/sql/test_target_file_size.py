"""OPTIMIZE writes files of the size that the property `delta.targetFileSize` names, in every spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.lanes import sampled

TABLE = "main.sized.t"
ROWS = 40_000
SMALL = 30_000
LAYOUTS = {"plain": "", "partitioned": "PARTITIONED BY (p)", "clustered": "CLUSTER BY (k)"}


def _api(spark: SparkSession) -> Any:
    from delta.tables import DeltaTable

    return DeltaTable.forName(spark, TABLE).optimize()


def _path(spark: SparkSession) -> str:
    return str(spark.sql(f"DESCRIBE DETAIL {TABLE}").collect()[0]["location"])


SPELLINGS: dict[str, Callable[[SparkSession], Any]] = {
    "OPTIMIZE": lambda spark: spark.sql(f"OPTIMIZE {TABLE}"),
    "OPTIMIZE of a path": lambda spark: spark.sql(f"OPTIMIZE delta.`{_path(spark)}`"),
    "OPTIMIZE FULL": lambda spark: spark.sql(f"OPTIMIZE {TABLE} FULL"),
    "OPTIMIZE WHERE": lambda spark: spark.sql(f"OPTIMIZE {TABLE} WHERE p = 0"),
    "OPTIMIZE ZORDER": lambda spark: spark.sql(f"OPTIMIZE {TABLE} ZORDER BY (k)"),
    "executeCompaction": lambda spark: _api(spark).executeCompaction(),
    "executeZOrderBy": lambda spark: _api(spark).executeZOrderBy("k"),
}
ONLY = {
    "OPTIMIZE FULL": ("clustered",),
    "OPTIMIZE WHERE": ("partitioned",),
    "OPTIMIZE ZORDER": ("plain", "partitioned"),
    "executeZOrderBy": ("plain", "partitioned"),
}


def create_table(spark: SparkSession, layout: str, size: str | None) -> None:
    spark.sql("CREATE SCHEMA IF NOT EXISTS main.sized")
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")
    size = f"TBLPROPERTIES ('delta.targetFileSize' = '{size}')" if size else ""
    spark.sql(f"CREATE TABLE {TABLE} (k BIGINT, text STRING, p INT) {LAYOUTS[layout]} {size}")


def make_table(spark: SparkSession, layout: str, size: str | None) -> None:
    """Create the table with many small files."""
    create_table(spark, layout, size)
    rows = spark.sql(f"SELECT id AS k, uuid() AS text, CAST(id % 2 AS INT) AS p FROM range({ROWS})")
    rows.repartition(40, "k").write.mode("append").saveAsTable(TABLE)


def sizes(spark: SparkSession) -> list[int]:
    rows = spark.sql(f"SELECT DISTINCT p, _metadata.file_path, _metadata.file_size AS size FROM {TABLE}")
    return [row["size"] for row in rows.collect() if row["p"] == 0]


@pytest.mark.parametrize(
    ("spelling", "layout"),
    sampled(
        [(each, layout) for each in SPELLINGS for layout in ONLY.get(each, tuple(LAYOUTS))],
        ("OPTIMIZE of a path", "plain"),
        ("OPTIMIZE ZORDER", "partitioned"),
        ("executeCompaction", "clustered"),
    ),
)
def test_files_have_the_declared_size(spark: SparkSession, spelling: str, layout: str) -> None:
    make_table(spark, layout, "200kb")
    SPELLINGS[spelling](spark)
    found = sizes(spark)
    assert len(found) > 2
    assert max(found) < 400_000
    assert min(found) > 4 * SMALL / 3
    assert spark.table(TABLE).count() == ROWS


@pytest.mark.parametrize("size", sampled(["204800", "200k", "200KB"], "200k"))
def test_sizes_have_units(spark: SparkSession, size: str) -> None:
    make_table(spark, "plain", size)
    spark.sql(f"OPTIMIZE {TABLE}")
    assert 2 < len(sizes(spark)) < 15


@pytest.mark.parametrize("layout", sampled(LAYOUTS, "plain"))
def test_without_the_property_delta_decides(spark: SparkSession, layout: str) -> None:
    make_table(spark, layout, None)
    spark.sql(f"OPTIMIZE {TABLE}")
    assert len(sizes(spark)) == 1


@pytest.mark.parametrize("size", ["big", "0", "-1", "1.5mb", ""])
@pytest.mark.parametrize("alters", [False, True])
def test_what_is_no_size_is_refused(spark: SparkSession, size: str, alters: bool) -> None:
    create_table(spark, "plain", "1mb")
    text = f"TBLPROPERTIES ('delta.TARGETFILESIZE' = '{size}')"
    statement = f"ALTER TABLE {TABLE} SET {text}" if alters else f"CREATE TABLE main.sized.u (a INT) {text}"
    with pytest.raises(Exception, match=r"'delta\.targetFileSize', needs a size"):
        spark.sql(statement)
    assert not spark.catalog.tableExists("main.sized.u")


def test_the_property_is_one_that_delta_knows(spark: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    create_table(spark, "plain", "1mb")
    assert "not recognized" not in "".join(capfd.readouterr())
