"""Row filters and column masks: what readers see by name, and that writers meet the table itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from lakeward.session import condition_of
from lakeward.sql import rewrite
from lakeward.sql.constructs.create_table import CreateTable
from tests.conditions import failing
from tests.sql.governed import Governed

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

ALL = [(1, "EU", "111"), (2, "US", "222"), (3, "EU", "333")]
SEEN = [(1, "EU", "EU-***"), (3, "EU", "EU-***")]


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest) -> dict[str, Governed]:
    """Kept for the module, so that only those who write need a table of their own."""
    return {}


@pytest.fixture
def people(spark: SparkSession, made: dict[str, Governed]) -> Governed:
    """A table of which everybody sees the European rows, with hidden numbers; only for those who read."""
    if "people" not in made:
        made["people"] = Governed(spark, ALL)
    return made["people"]


@pytest.fixture
def own(spark: SparkSession) -> Governed:
    """The same for those who write."""
    return Governed(spark, ALL)


def condition(spark: SparkSession, statement: str) -> str | None:
    """What a statement fails with."""
    with pytest.raises(PySparkException) as caught:
        spark.sql(statement).collect()
    return condition_of(caught.value)


def test_every_read_by_name_shows_what_may_be_seen(spark: SparkSession, people: Governed) -> None:
    t = people.table
    spark.sql(f"CREATE OR REPLACE VIEW main.default.seen_people AS SELECT * FROM {t}")
    spark.table(t).createOrReplaceTempView("people_frame")
    reads: dict[str, Any] = {
        "SELECT": spark.sql(f"SELECT * FROM {t}"),
        "an alias": spark.sql(f"SELECT p.id, p.region, p.ssn FROM {t} p"),
        "the table's name": spark.sql(f"SELECT {t}.id, {t}.region, {t}.ssn FROM {t}"),
        "a subquery": spark.sql(
            f"SELECT * FROM (SELECT 1 AS id) JOIN (SELECT * FROM {t}) USING (id)"
        ).unionByName(spark.table(t).where("id = 3")),
        "a CTE": spark.sql(f"WITH c AS (SELECT * FROM {t}) SELECT * FROM c"),
        "a parameter": spark.sql("SELECT * FROM IDENTIFIER(:t)", args={"t": t}),
        "a view": spark.table("main.default.seen_people"),
        "a temporary view": spark.table("people_frame"),
        "spark.table": spark.table(t),
        "spark.read": spark.read.option("x", "y").table(t),
        "DeltaTable": people.delta().toDF(),
        "an alias of DeltaTable": people.delta().alias("a").toDF().select("a.id", "a.region", "ssn"),
        "aliases of DeltaTable": people.delta().alias("a").alias("b").toDF().select("b.*"),
        "Spark's catalog": spark.table(f"spark_catalog.main__default.{people.name}"),
    }
    spark.catalog.dropTempView("people_frame")
    assert {how: sorted(map(tuple, frame.collect())) for how, frame in reads.items()} == dict.fromkeys(
        reads, SEEN
    )
    assert spark.sql(f"SELECT count(*) FROM {t} WHERE ssn = '111'").collect() == [(0,)]
    assert spark.sql(f"SELECT 1 WHERE EXISTS (SELECT * FROM {t} WHERE region = 'US')").collect() == []
    assert spark.table(t).dtypes == [("id", "int"), ("region", "string"), ("ssn", "string")]


def test_names_are_those_of_the_session_and_of_the_view(spark: SparkSession, people: Governed) -> None:
    spark.sql(f"CREATE OR REPLACE VIEW main.default.short_people AS SELECT ssn FROM {people.name}")
    people.spark.sql("CREATE SCHEMA IF NOT EXISTS main.elsewhere")
    spark.sql("USE main.elsewhere")
    try:
        assert spark.table("main.default.short_people").distinct().collect() == [("EU-***",)]
        assert spark.table(f"default.{people.name}").count() == 2
    finally:
        spark.sql("USE main.default")
    spark.range(5).createOrReplaceTempView(people.name)
    try:
        assert spark.table(people.name).count() == 5
        assert spark.table("main.default.short_people").count() == 2
    finally:
        spark.catalog.dropTempView(people.name)


@pytest.mark.slow
def test_a_stream_reads_what_may_be_seen(spark: SparkSession, people: Governed, tmp_path: Path) -> None:
    seen: list[Any] = []
    query = (
        spark.readStream.table(people.table)
        .writeStream.foreachBatch(lambda frame, _: seen.extend(map(tuple, frame.collect())))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert sorted(seen) == SEEN


@pytest.mark.slow
def test_what_a_statement_writes_to_is_the_table_itself(spark: SparkSession, own: Governed) -> None:
    t = own.table
    spark.sql(f"INSERT INTO {t} VALUES (4, 'US', '444')")
    spark.createDataFrame([(5, "US", "555")], "id INT, region STRING, ssn STRING").writeTo(t).append()
    spark.sql(f"UPDATE {t} SET ssn = '22' WHERE region = 'US' AND id = 2")
    spark.sql("DELETE FROM IDENTIFIER(:t) WHERE ssn = '333'", args={"t": t})
    spark.sql(
        f"MERGE INTO {t} AS x USING (SELECT 4 AS id) s ON x.id = s.id AND x.ssn = '444' "
        "WHEN MATCHED THEN UPDATE SET ssn = '44'"
    )
    own.delta().delete("ssn = '555'")
    assert own.bare() == [(1, "EU", "111"), (2, "US", "22"), (4, "US", "44")]
    own.drop()
    assert sorted(map(tuple, spark.table(t).collect())) == own.bare()


@pytest.mark.slow
def test_a_filter_may_look_into_another_table_and_at_the_groups(spark: SparkSession, own: Governed) -> None:
    spark.sql("CREATE OR REPLACE TABLE main.default.policy_regions AS SELECT 'US' AS mine")
    spark.sql(
        "CREATE OR REPLACE FUNCTION main.default.policy_mapped(r STRING) RETURNS BOOLEAN RETURN "
        "is_account_group_member('auditors') "
        "OR EXISTS (SELECT 1 FROM main.default.policy_regions m WHERE m.mine = r)"
    )
    own.drop()
    spark.sql(f"ALTER TABLE {own.table} SET ROW FILTER main.default.policy_mapped ON (region)")
    assert spark.table(own.table).select("id").collect() == [(2,)]
    spark.conf.set("spark.lakeward.groups", "auditors")
    try:
        assert spark.table(own.table).count() == 3
    finally:
        spark.conf.unset("spark.lakeward.groups")


def test_what_goes_past_a_policy_is_refused_as_on_the_platform(spark: SparkSession, people: Governed) -> None:
    t = people.table
    assert (
        condition(spark, f"SELECT * FROM {t} VERSION AS OF 0")
        == "ROW_LEVEL_SECURITY_FEATURE_NOT_SUPPORTED.TIME_TRAVEL"
    )
    clone = "ROW_LEVEL_SECURITY_TABLE_CLONE_SOURCE_NOT_SUPPORTED"
    assert condition(spark, f"CREATE TABLE main.default.policy_copy SHALLOW CLONE {t}") == clone
    assert condition(spark, f"CREATE TABLE main.default.policy_copy DEEP CLONE {t}") == clone
    assert (
        condition(spark, f"ALTER TABLE {t} RENAME COLUMN ssn TO x")
        == "COLUMN_MASKS_INCOMPATIBLE_SCHEMA_CHANGE"
    )
    assert (
        condition(spark, f"ALTER TABLE {t} DROP COLUMN region")
        == "ROW_LEVEL_SECURITY_INCOMPATIBLE_SCHEMA_CHANGE"
    )


# Ways to name an earlier state of the table {t}.
PAST: dict[str, Any] = {
    "VERSION AS OF": lambda spark, t: spark.sql(f"SELECT * FROM {t} VERSION AS OF 0"),
    "TIMESTAMP AS OF": lambda spark, t: spark.sql(f"SELECT * FROM {t} TIMESTAMP AS OF current_timestamp()"),
    "t@v0": lambda spark, t: spark.sql(f"SELECT * FROM {t}@v0"),
    "a subquery": lambda spark, t: spark.sql(f"SELECT 1 WHERE EXISTS (SELECT * FROM {t}@v0)"),
    "table": lambda spark, t: spark.table(f"{t}@v0"),
    "a short name": lambda spark, t: spark.table(t.replace("main.default.", "") + "@V0"),
    "a timestamp": lambda spark, t: spark.table(f"{t}@20300101000000000"),
    "read.table": lambda spark, t: spark.read.table(f"{t}@v0"),
    "versionAsOf": lambda spark, t: spark.read.option("versionAsOf", 0).table(t),
    "timestampAsOf": lambda spark, t: spark.read.option("TIMESTAMPASOF", "2030-01-01").table(t),
    "a hint of options": lambda spark, t: spark.sql(f"SELECT * FROM {t} WITH ('versionAsOf' = 0)"),
}


@pytest.mark.parametrize("way", PAST)
def test_no_way_leads_to_an_earlier_version_of_a_governed_table(
    spark: SparkSession, people: Governed, way: str
) -> None:
    with failing("ROW_LEVEL_SECURITY_FEATURE_NOT_SUPPORTED.TIME_TRAVEL"):
        PAST[way](spark, people.table).collect()


def test_a_table_whose_name_ends_as_a_version_is_read_as_it_is(spark: SparkSession, people: Governed) -> None:
    named = f"main.default.`{people.name}@v7`"
    spark.sql(f"CREATE TABLE {named} AS SELECT 1 AS one")
    try:
        assert spark.sql(f"SELECT * FROM {named}").collect() == [(1,)]
    finally:
        spark.sql(f"DROP TABLE {named}")


@pytest.mark.slow
def test_a_policy_that_does_not_fit_is_not_kept(spark: SparkSession, own: Governed) -> None:
    own.drop()
    t, mask = own.table, f"{own.table} ALTER COLUMN ssn SET MASK"
    hide, eu = "main.default.policy_hide", "main.default.policy_eu"
    spark.sql(f"CREATE OR REPLACE VIEW main.default.policy_view AS SELECT * FROM {t}")
    refusals = {
        f"{t} SET ROW FILTER main.default.policy_nope ON (region)": "UNRESOLVED_ROUTINE",
        f"{t} SET ROW FILTER {eu} ON (nope)": "UNRESOLVED_COLUMN.WITH_SUGGESTION",
        f"{t} SET ROW FILTER {hide} ON (region, ssn)": "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN",
        f"{t} SET ROW FILTER {hide} ON (ssn, SSN)": "ROW_LEVEL_SECURITY_DUPLICATE_COLUMN_NAME",
        f"{mask} main.default.policy_hide USING COLUMNS (ssn)": (
            "COLUMN_MASKS_USING_COLUMN_NAME_SAME_AS_TARGET_COLUMN"
        ),
        "main.default.policy_view SET ROW FILTER main.default.policy_eu ON (region)": (
            "ROW_LEVEL_SECURITY_FEATURE_NOT_SUPPORTED.VIEWS"
        ),
    }
    found = {rest: condition(spark, f"ALTER TABLE {rest}") for rest in refusals}
    assert found == refusals
    assert spark.table(t).count() == 3


@pytest.mark.slow
def test_a_table_is_made_with_its_policies_or_not_at_all(spark: SparkSession) -> None:
    Governed.functions(spark)
    t = "main.default.policy_made"
    spark.sql(f"DROP TABLE IF EXISTS {t}")
    columns = "(id INT, ssn STRING MASK main.default.policy_hide USING COLUMNS (region), region STRING)"
    assert condition(spark, f"CREATE TABLE {t} {columns} ROW FILTER main.default.policy_eu ON (nope)")
    assert not spark.catalog.tableExists(t)
    spark.sql(f"CREATE TABLE {t} {columns} WITH ROW FILTER main.default.policy_eu ON (region) COMMENT 'x'")
    spark.sql(f"INSERT INTO {t} VALUES (1, '1', 'US'), (2, '2', 'EU')")
    assert spark.table(t).collect() == [(2, "EU-***", "EU")]
    spark.sql(f"ALTER TABLE {t} RENAME TO main.default.policy_renamed")
    try:
        assert spark.table("main.default.policy_renamed").count() == 1
    finally:
        spark.sql("DROP TABLE main.default.policy_renamed")


@pytest.mark.parametrize("kind", ["delta", "parquet"])
def test_rows_do_not_get_a_new_name_before_their_metadata(spark: SparkSession, kind: str) -> None:
    """The metadata of a name of 250 characters has a file name that is too long: nothing is renamed."""
    table, longer, shorter = (f"main.default.{name}" for name in ("renaming", "r" * 250, "renamed"))
    for name in (table, longer, shorter):
        spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {table} (id INT) USING {kind}")
    spark.sql(f"INSERT INTO {table} VALUES (7)")
    spark.sql(f"SET TAG ON TABLE {table} pii")
    with pytest.raises(Exception, match=r"r{250}"):
        spark.sql(f"ALTER TABLE {table} RENAME TO {longer}")
    assert not spark.catalog.tableExists(longer)
    assert [row.id for row in spark.table(table).collect()] == [7]
    spark.sql(f"ALTER TABLE {table} RENAME TO {shorter}")
    tags = spark.sql("SELECT table_name, tag_name FROM main.information_schema.table_tags").collect()
    assert ("renamed", "pii") in tags and "renaming" not in {row.table_name for row in tags}
    assert not spark.catalog.tableExists(table)
    assert [row.id for row in spark.table(shorter).collect()] == [7]
    spark.sql(f"DROP TABLE {shorter}")


@pytest.mark.parametrize(
    ("text", "masks", "without"),
    [
        ("CREATE TABLE t (mask STRING, b STRUCT<mask: INT>)", None, ""),
        ("CREATE TABLE t (a STRING MASK f, b INT)", {"a": ["f"]}, "CREATE TABLE t (a STRING       , b INT)"),
        (
            "CREATE TABLE t (a DECIMAL(5, 2) COMMENT 'MASK f' MASK c.s.f USING COLUMNS (b, 'x'))",
            {"a": ["c", "s", "f"]},
            "CREATE TABLE t (a DECIMAL(5, 2) COMMENT 'MASK f'                                  )",
        ),
    ],
)
def test_masks_are_found_among_what_else_a_column_says(
    text: str, masks: dict[str, Any] | None, without: str
) -> None:
    outcome = rewrite(text)
    if masks is None:
        assert outcome is None
        return
    assert isinstance(outcome, CreateTable)
    assert {name: mask.name for name, mask in outcome.masks.items()} == masks
    assert outcome.text == without
