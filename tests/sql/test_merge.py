"""MERGE from an earlier version and with `* EXCEPT`: spellings × aliases × entry points."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.lanes import sampled

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


VERSIONS = (
    "VERSION AS OF {version}",
    "version as of '{version}'",
    "FOR SYSTEM_VERSION AS OF {version}",
    "VERSION AS OF :v",
    "TIMESTAMP AS OF '{time}'",
    "TIMESTAMP AS OF CAST('{time}' AS TIMESTAMP)",
    "TIMESTAMP AS OF timestamp'{time}' + INTERVAL 0 SECONDS",
    "TIMESTAMP AS OF timestamp'{time}' - INTERVAL '0 day'",
)


@pytest.mark.slow
@pytest.mark.parametrize("at", sampled(VERSIONS, *VERSIONS[::4]))
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


# The source, the name by which the clauses know it, and whether its rows are the earlier ones.
SOURCES = (
    ("merge_source s", "s", False),
    (f"{SOURCE} AS s", "s", False),
    ("merge_source", "merge_source", False),
    (SOURCE, SOURCE, False),
    ("`main`.`default`.`merge_source`", "merge_source", False),
    (f"{SOURCE} VERSION AS OF {{version}}", "merge_source", True),
    (f"{SOURCE} TIMESTAMP AS OF '{{time}}' s", "s", True),
    (f"(SELECT * FROM {SOURCE} VERSION AS OF {{version}}) s", "s", True),
    (f"(SELECT *, id AS key FROM {SOURCE} WHERE (id) IN (SELECT id FROM {SOURCE}))", "", False),
    ("IDENTIFIER('merge' || '_source') s", "s", False),
)
TARGETS = ("merge_target t", f"{TARGET} AS t", "IDENTIFIER('merge_' || 'target') t", "IDENTIFIER(:target) t")


@pytest.mark.parametrize(
    ("source", "target"),
    sampled(product(SOURCES, TARGETS), *((source, TARGETS[3]) for source in SOURCES[3::3])),
)
def test_all_columns_but_some(spark: SparkSession, source: tuple[str, str, bool], target: str) -> None:
    version, time = version_of_insert(spark)
    spark.sql(f"INSERT INTO {SOURCE} VALUES (2, 'other')")
    spark.sql(f"INSERT INTO {TARGET} VALUES (1, 'target')")
    text, name, is_earlier = source
    key = f"{name}.id" if name else "key"
    spark.sql(
        f"MERGE INTO {target} USING {text.format(version=version, time=time)} ON t.id = {key}\n"
        "WHEN MATCHED THEN UPDATE SET * EXCEPT (ID) WHEN NOT MATCHED THEN INSERT * EXCEPT (`name`)",
        args={"target": TARGET},
    )
    expected = [(1, "old")] if is_earlier else [(1, "new"), (2, None)]
    assert sorted(spark.table(TARGET).collect()) == expected


def test_a_source_of_the_targets_name(spark: SparkSession) -> None:
    spark.sql("CREATE SCHEMA IF NOT EXISTS main.merge_other")
    spark.sql(f"CREATE OR REPLACE TABLE main.merge_other.merge_target AS SELECT * FROM {SOURCE}")
    spark.sql(f"INSERT INTO {TARGET} VALUES (1, 'target')")
    spark.sql(
        f"MERGE INTO {TARGET} t USING main.merge_other.merge_target "
        "ON t.id = main.merge_other.merge_target.id WHEN MATCHED THEN UPDATE SET * EXCEPT (id)"
    )
    assert spark.table(TARGET).collect() == [(1, "new")]
    spark.sql("DROP SCHEMA main.merge_other CASCADE")


def test_columns_that_the_target_lacks_with_schema_evolution(spark: SparkSession) -> None:
    spark.sql(f"INSERT INTO {TARGET} VALUES (1, 'target')")
    for source in ("(SELECT id, name, 5 AS size, 6 AS x FROM {}) s", "sized s"):
        spark.sql(
            f"WITH sized AS (SELECT id, name, 7 AS size, 8 AS x FROM {SOURCE}) "
            f"MERGE WITH SCHEMA EVOLUTION INTO {TARGET} t USING {source.format(SOURCE)} ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET * EXCEPT (name, x)"
        )
        expected = 7 if source == "sized s" else 5
        assert spark.table(TARGET).columns == ["id", "name", "size"]
        assert spark.table(TARGET).collect() == [(1, "target", expected)]


@pytest.mark.parametrize(
    "entry",
    [
        "{merge}",
        "BEGIN IF true THEN {merge}; END IF; END",
        "BEGIN DECLARE n STRING DEFAULT 'merge_target'; {merge}; END",
        'EXECUTE IMMEDIATE "{merge}"',
        "WITH unused AS (SELECT 1) {merge}",
    ],
)
def test_the_star_in_every_kind_of_statement(spark: SparkSession, entry: str) -> None:
    spark.sql(f"INSERT INTO {TARGET} VALUES (1, 'target')")
    into = "IDENTIFIER(n)" if "DECLARE" in entry else TARGET
    merge = f"MERGE INTO {into} t USING {SOURCE} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * EXCEPT (id)"
    spark.sql(entry.format(merge=merge)).collect()
    assert spark.table(TARGET).collect() == [(1, "new")]


def test_explain_has_no_effect(spark: SparkSession) -> None:
    spark.sql(f"INSERT INTO {TARGET} VALUES (1, 'target')")
    merge = (
        f"MERGE INTO {TARGET} t USING {SOURCE} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * EXCEPT (id)"
    )
    plan = spark.sql(f"EXPLAIN {merge}").first()
    assert plan is not None
    assert "Merge" in plan[0]
    assert spark.table(TARGET).collect() == [(1, "target")]


@pytest.mark.parametrize(
    ("merge", "condition"),
    [
        ("MERGE INTO no_such t USING {source} s", "TABLE_OR_VIEW_NOT_FOUND"),
        ("MERGE INTO {target} t USING no_such s", "TABLE_OR_VIEW_NOT_FOUND"),
        ("MERGE INTO {target} t USING (SELECT 1 AS id) s", "DELTA_MERGE_UNRESOLVED_EXPRESSION"),
    ],
)
def test_what_is_missing_is_reported(spark: SparkSession, merge: str, condition: str) -> None:
    clauses = " ON t.id = s.id WHEN MATCHED THEN UPDATE SET * EXCEPT (id)"
    with pytest.raises(AnalysisException) as caught:
        spark.sql(merge.format(source=SOURCE, target=TARGET) + clauses)
    assert caught.value.getCondition() == condition
    assert "lakeward" not in str(caught.value)
