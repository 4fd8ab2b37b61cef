"""MERGE from an earlier version: spellings of the version × aliases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

SOURCE, TARGET = "main.default.merge_source", "main.default.merge_target"


@pytest.fixture(autouse=True)
def tables(spark: SparkSession) -> Iterator[None]:
    for name in (SOURCE, TARGET):
        spark.sql(f"CREATE OR REPLACE TABLE {name} (id INT, name STRING)")
    spark.sql(f"INSERT INTO {SOURCE} VALUES (1, 'old')")
    spark.sql(f"UPDATE {SOURCE} SET name = 'new'")
    yield
    for name in (SOURCE, TARGET):
        spark.sql(f"DROP TABLE {name}")


def version_of_insert(spark: SparkSession) -> tuple[int, str]:
    """The version of the source with the old name, and its time."""
    history = spark.sql(f"DESCRIBE HISTORY {SOURCE}").where("operation = 'WRITE'").orderBy("version")
    row = history.collect()[-1]
    return int(row["version"]), str(row["timestamp"])


@pytest.mark.parametrize(
    "at",
    [
        "VERSION AS OF {version}",
        "version as of '{version}'",
        "FOR SYSTEM_VERSION AS OF {version}",
        "VERSION AS OF :v",
        "TIMESTAMP AS OF '{time}'",
        "TIMESTAMP AS OF CAST('{time}' AS TIMESTAMP)",
        "TIMESTAMP AS OF timestamp'{time}' + INTERVAL 0 SECONDS",
        "TIMESTAMP AS OF timestamp'{time}' - INTERVAL '0 day'",
    ],
)
def test_the_version_is_merged(spark: SparkSession, at: str) -> None:
    version, time = version_of_insert(spark)
    of = at.format(version=version, time=time)
    for alias in ("s", "AS s", "`s`", "", "s -- the source\n"):
        source = "s" if alias else "merge_source"
        spark.sql(f"TRUNCATE TABLE {TARGET}")
        spark.sql(
            f"MERGE INTO {TARGET} t\nUSING {SOURCE} {of} {alias} ON (t.id = {source}.id)\n"
            "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
            args={"v": version},
        )
        assert spark.table(TARGET).collect() == [(1, "old")], alias


def test_other_sources_are_left_alone(spark: SparkSession) -> None:
    spark.sql(f"TRUNCATE TABLE {TARGET}")
    for source in (SOURCE, f"(SELECT * FROM {SOURCE} VERSION AS OF 0)", "(SELECT 1 AS id, 'x' AS name)"):
        spark.sql(f"MERGE INTO {TARGET} t USING {source} s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")
    assert spark.table(TARGET).collect() == [(1, "new")]


def test_scripts_and_explain(spark: SparkSession) -> None:
    version, _ = version_of_insert(spark)
    begin = f"MERGE INTO {TARGET} t USING {SOURCE}"
    merge = f"{begin} VERSION AS OF {version} s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    delete = f"{begin} s ON t.id = s.id WHEN MATCHED THEN DELETE"
    for explain in ("EXPLAIN", "EXPLAIN EXTENDED"):
        plan = spark.sql(f"{explain} {merge}").first()
        assert plan is not None
        assert "Merge" in plan[0]
    assert spark.table(TARGET).count() == 0
    spark.sql(f"BEGIN {delete}; IF true THEN {merge}; END IF; END")
    assert spark.table(TARGET).collect() == [(1, "old")]
