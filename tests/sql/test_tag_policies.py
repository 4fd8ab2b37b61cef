"""CREATE POLICY: row filters and masks that tables have by their tags (ABAC)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from lakeward.session import condition_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "main.tag_policies"
PEOPLE = f"{SCHEMA}.people"
ALL = [(1, "EU", "111"), (2, "US", "222")]
HIDDEN = [(1, "EU", "***"), (2, "US", "***")]
EUROPEANS = [(1, "EU", "111")]
MASK = f"COLUMN MASK {SCHEMA}.hidden"
FILTER = f"ROW FILTER {SCHEMA}.in_europe"
EVERYBODY = "TO `account users` FOR TABLES"


@pytest.fixture(scope="module", autouse=True)
def _schema(request: pytest.FixtureRequest) -> Iterator[None]:
    made: list[Any] = []
    request.module.__dict__["_made"] = made
    yield
    for spark in made[:1]:
        spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


@pytest.fixture
def sql(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Return `spark.sql`, with the table of people; all policies are dropped afterwards."""
    made = request.module.__dict__["_made"]
    if not made:
        made.append(spark)
        for statement in (
            f"CREATE SCHEMA {SCHEMA}",
            f"CREATE FUNCTION {SCHEMA}.hidden(x STRING) RETURNS STRING RETURN '***'",
            f"CREATE FUNCTION {SCHEMA}.shortened(x STRING, n INT) RETURNS STRING RETURN left(x, n)",
            f"CREATE FUNCTION {SCHEMA}.in_europe(x STRING) RETURNS BOOLEAN RETURN x = 'EU'",
            f"CREATE FUNCTION {SCHEMA}.never() RETURNS BOOLEAN RETURN false",
            f"CREATE TABLE {PEOPLE} (id INT, Region STRING, Ssn STRING)",
            f"INSERT INTO {PEOPLE} VALUES (1, 'EU', '111'), (2, 'US', '222')",
            f"ALTER TABLE {PEOPLE} ALTER COLUMN ssn SET TAGS ('pii' = 'ssn')",
            f"ALTER TABLE {PEOPLE} ALTER COLUMN region SET TAGS ('pii' = 'region', 'place')",
            f"ALTER TABLE {PEOPLE} SET TAGS ('domain' = 'hr')",
            f"ALTER SCHEMA {SCHEMA} SET TAGS ('level' = 'gold')",
            f"CREATE TABLE {SCHEMA}.other AS SELECT 1 AS id, 'x' AS note",
        ):
            spark.sql(statement)
    yield spark.sql
    for on in (f"TABLE {PEOPLE}", f"SCHEMA {SCHEMA}", "CATALOG main"):
        for row in spark.sql(f"SHOW POLICIES ON {on}").collect():
            spark.sql(f"DROP POLICY {row[0]} ON {on}")
    spark.conf.unset("spark.lakeward.groups")


def rows(sql: Any, table: str = PEOPLE) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, sql(f"SELECT * FROM {table}").collect()))


def condition(sql: Any, statement: str) -> str | None:
    with pytest.raises(PySparkException) as caught:
        sql(statement).collect()
    return condition_of(caught.value)


@pytest.mark.parametrize("on", [f"TABLE {PEOPLE}", f"SCHEMA {SCHEMA}", "CATALOG main"])
def test_a_policy_holds_for_the_tables_below_its_object(spark: SparkSession, sql: Any, on: str) -> None:
    sql(
        f"CREATE POLICY hide ON {on} {MASK} {EVERYBODY} "
        "MATCH COLUMNS has_tag_value('pii', 'ssn') AS c ON COLUMN c"
    )
    assert rows(sql) == HIDDEN
    assert spark.table(PEOPLE).columns == ["id", "Region", "Ssn"]
    assert rows(sql, f"{SCHEMA}.other") == [(1, "x")]
    sql(f"CREATE OR REPLACE VIEW {SCHEMA}.seen AS SELECT * FROM {PEOPLE}")
    assert rows(sql, f"{SCHEMA}.seen") == HIDDEN
    sql(f"DROP POLICY hide ON {on}")
    assert rows(sql) == ALL


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ("MATCH COLUMNS hasTag('place') AS p USING COLUMNS (p)", EUROPEANS),
        ("MATCH COLUMNS hasTag('place') p USING COLUMNS (p)", EUROPEANS),
        (
            "MATCH COLUMNS has_tag('pii') AND NOT has_tag_value('pii', 'ssn') AS p USING COLUMNS (p)",
            EUROPEANS,
        ),
        ("MATCH COLUMNS (has_tag('none') OR has_tag('place')) AS p USING COLUMNS (p)", EUROPEANS),
        ("MATCH COLUMNS has_tag('place') AS p, hasTagValue('pii', 'ssn') USING COLUMNS (p)", EUROPEANS),
        ("MATCH COLUMNS has_tag('place') AS p, has_tag('none') USING COLUMNS (p)", ALL),
        ("MATCH COLUMNS has_tag('Place') AS p USING COLUMNS (p)", ALL),
        (
            "WHEN has_tag_value('domain', 'hr') MATCH COLUMNS has_tag('place') AS p USING COLUMNS (p)",
            EUROPEANS,
        ),
        (
            "WHEN has_tag_value('level', 'gold') MATCH COLUMNS has_tag('place') AS p USING COLUMNS (p)",
            EUROPEANS,
        ),
        ("WHEN has_tag_value('domain', 'sales') MATCH COLUMNS has_tag('place') AS p USING COLUMNS (p)", ALL),
        ("WHEN TRUE USING COLUMNS ('EU')", ALL),
        ("USING COLUMNS ('US')", []),
    ],
)
def test_conditions_over_tags(sql: Any, clauses: str, expected: list[Any]) -> None:
    sql(f"CREATE POLICY europe ON SCHEMA {SCHEMA} {FILTER} {EVERYBODY} {clauses}")
    assert rows(sql) == expected


@pytest.mark.parametrize(
    ("principals", "applies"),
    [
        ("TO `account users`", True),
        ("TO USERS", True),
        ("TO analysts", True),
        ("TO 'ANALYSTS', others", True),
        ("TO others", False),
        ("TO `account users` EXCEPT analysts", False),
        ("TO `account users` EXCEPT others, `more of them`", True),
        ("TO {user}", True),
        ("TO `account users` EXCEPT {user}", False),
    ],
)
def test_principals(spark: SparkSession, sql: Any, principals: str, applies: bool) -> None:
    spark.conf.set("spark.lakeward.groups", "analysts")
    named = principals.replace("{user}", f"`{sql('SELECT current_user()').first()[0]}`")
    sql(f"CREATE POLICY never ON SCHEMA {SCHEMA} ROW FILTER {SCHEMA}.never {named} FOR TABLES")
    assert rows(sql) == ([] if applies else ALL)


def test_a_mask_is_for_each_column_that_matches_and_takes_other_arguments(sql: Any) -> None:
    sql(
        f"CREATE POLICY short ON SCHEMA {SCHEMA} COMMENT 'two letters' "
        f"COLUMN MASK {SCHEMA}.shortened {EVERYBODY} "
        "MATCH COLUMNS has_tag('pii') AS c ON COLUMN c USING COLUMNS (1)"
    )
    assert rows(sql) == [(1, "E", "1"), (2, "U", "2")]
    shown = dict(map(tuple, sql(f"DESCRIBE POLICY short ON SCHEMA {SCHEMA}").collect()))
    assert shown == {
        "Name": "short",
        "Comment": "two letters",
        "On Securable Type": "SCHEMA",
        "On Securable": SCHEMA,
        "To Principals": "account users",
        "For Securable Type": "TABLE",
        "Match Columns": "has_tag('pii') AS c",
        "Policy Type": "COLUMN_MASK",
        "Function Name": f"{SCHEMA}.shortened",
        "On Column": "c",
        "Using Columns": "1",
    }
    assert sql(f"SHOW POLICIES ON TABLE {PEOPLE}").collect() == []
    effective = sql(f"SHOW EFFECTIVE POLICIES ON TABLE {PEOPLE}").collect()
    assert list(map(tuple, effective)) == [("short", "COLUMN_MASK", "SCHEMA", SCHEMA)]


def test_writers_meet_the_table_itself(sql: Any) -> None:
    sql(f"CREATE POLICY never ON SCHEMA {SCHEMA} ROW FILTER {SCHEMA}.never {EVERYBODY}")
    sql(f"INSERT INTO {PEOPLE} VALUES (3, 'EU', '333')")
    sql(f"UPDATE {PEOPLE} SET Ssn = '444' WHERE id = 3")
    sql(f"DROP POLICY never ON SCHEMA {SCHEMA}")
    assert rows(sql) == [*ALL, (3, "EU", "444")]
    sql(f"DELETE FROM {PEOPLE} WHERE id = 3")


def test_policies_that_contradict_and_those_of_a_table(sql: Any) -> None:
    match = "MATCH COLUMNS has_tag_value('pii', 'ssn') AS c ON COLUMN c"
    sql(f"CREATE POLICY one ON SCHEMA {SCHEMA} {MASK} {EVERYBODY} {match}")
    sql(f"CREATE POLICY same ON CATALOG main {MASK} {EVERYBODY} {match}")
    assert rows(sql) == HIDDEN
    sql(
        f"CREATE POLICY other ON TABLE {PEOPLE} COLUMN MASK {SCHEMA}.shortened {EVERYBODY} "
        f"{match} USING COLUMNS (1)"
    )
    assert condition(sql, f"SELECT * FROM {PEOPLE}") == "COLUMN_MASKS_ABAC_MISMATCH"
    sql(f"DROP POLICY other ON TABLE {PEOPLE}")
    sql(f"CREATE POLICY f ON SCHEMA {SCHEMA} {FILTER} {EVERYBODY} USING COLUMNS ('US')")
    sql(f"CREATE POLICY g ON SCHEMA {SCHEMA} {FILTER} {EVERYBODY} USING COLUMNS ('EU')")
    assert condition(sql, f"SELECT * FROM {PEOPLE}") == "UC_ABAC_MULTIPLE_ROW_FILTERS"
    sql(f"DROP POLICY f ON SCHEMA {SCHEMA}")
    sql(f"DROP POLICY g ON SCHEMA {SCHEMA}")
    sql(
        f"CREATE POLICY f ON SCHEMA {SCHEMA} {FILTER} {EVERYBODY} "
        "MATCH COLUMNS has_tag('pii') AS c USING COLUMNS (c)"
    )
    assert condition(sql, f"SELECT * FROM {PEOPLE}") == "UC_ABAC_AMBIGUOUS_COLUMN_MATCH"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            f"CREATE POLICY one ON SCHEMA {SCHEMA} {MASK} {EVERYBODY} MATCH COLUMNS true c ON COLUMN c",
            "POLICY_ALREADY_EXISTS",
        ),
        (f"CREATE POLICY p ON SCHEMA main.absent {FILTER} {EVERYBODY}", "SCHEMA_NOT_FOUND"),
        (f"CREATE POLICY p ON CATALOG absent {FILTER} {EVERYBODY}", "NO_SUCH_CATALOG_EXCEPTION"),
        (f"CREATE POLICY p ON TABLE {SCHEMA}.absent {FILTER} {EVERYBODY}", "TABLE_OR_VIEW_NOT_FOUND"),
        (f"CREATE POLICY p ON SCHEMA {SCHEMA} ROW FILTER {SCHEMA}.absent {EVERYBODY}", "ROUTINE_NOT_FOUND"),
        (
            f"CREATE POLICY p ON SCHEMA {SCHEMA} {FILTER} {EVERYBODY} WHEN id > 1",
            "UC_INVALID_POLICY_CONDITION",
        ),
        (
            f"CREATE POLICY p ON SCHEMA {SCHEMA} {FILTER} {EVERYBODY} WHEN has_tag(id)",
            "UC_INVALID_POLICY_CONDITION",
        ),
        (
            f"CREATE POLICY p ON SCHEMA {SCHEMA} {FILTER} {EVERYBODY} USING COLUMNS (c)",
            "UC_INVALID_POLICY_CONDITION",
        ),
        (f"CREATE POLICY p ON SCHEMA {SCHEMA} {MASK} {EVERYBODY} MATCH COLUMNS true c", "PARSE_SYNTAX_ERROR"),
        (f"CREATE POLICY p ON SCHEMA {SCHEMA} {FILTER} TO users", "PARSE_SYNTAX_ERROR"),
        (f"DROP POLICY absent ON SCHEMA {SCHEMA}", "POLICY_NOT_FOUND"),
        (f"DESC POLICY absent ON TABLE {PEOPLE}", "POLICY_NOT_FOUND"),
    ],
)
def test_what_is_refused(sql: Any, statement: str, expected: str) -> None:
    create = f"{MASK} {EVERYBODY} MATCH COLUMNS has_tag('none') c ON COLUMN c"
    sql(f"CREATE POLICY One ON SCHEMA {SCHEMA} {create}")
    sql(f"CREATE OR REPLACE POLICY one ON SCHEMA {SCHEMA} {create}")
    assert condition(sql, statement) == expected
    assert [row[0] for row in sql(f"SHOW POLICIES ON SCHEMA {SCHEMA}").collect()] == ["one"]


def test_what_may_not_be_read_of_the_past_is_refused(sql: Any) -> None:
    sql(f"CREATE POLICY never ON SCHEMA {SCHEMA} ROW FILTER {SCHEMA}.never {EVERYBODY}")
    name = "ROW_LEVEL_SECURITY_FEATURE_NOT_SUPPORTED.TIME_TRAVEL"
    assert condition(sql, f"SELECT * FROM {PEOPLE} VERSION AS OF 0") == name
    clone = f"CREATE TABLE {SCHEMA}.copy CLONE {PEOPLE}"
    assert condition(sql, clone) == "ROW_LEVEL_SECURITY_TABLE_CLONE_SOURCE_NOT_SUPPORTED"


def _of_stream(spark: SparkSession) -> list[Any]:
    query = spark.readStream.table(PEOPLE).writeStream.format("memory").queryName("tag_policies_seen")
    query.trigger(availableNow=True).start().awaitTermination()
    return spark.table("tag_policies_seen").collect()


def _of_view(spark: SparkSession) -> list[Any]:
    spark.sql(f"CREATE OR REPLACE MATERIALIZED VIEW {SCHEMA}.refreshed AS SELECT * FROM {PEOPLE}")
    try:
        return spark.table(f"{SCHEMA}.refreshed").collect()
    finally:
        spark.sql(f"DROP MATERIALIZED VIEW {SCHEMA}.refreshed")


READS = {
    "spark.table": lambda spark: spark.table(PEOPLE).collect(),
    "spark.read.table": lambda spark: spark.read.table(PEOPLE).collect(),
    "format": lambda spark: spark.read.format("delta").table(PEOPLE).collect(),
    "alias": lambda spark: spark.sql(f"SELECT p.* FROM {PEOPLE} AS p").collect(),
    "subquery": lambda spark: spark.sql(f"SELECT * FROM (SELECT * FROM {PEOPLE})").collect(),
    "CTE": lambda spark: spark.sql(f"WITH p AS (SELECT * FROM {PEOPLE}) SELECT * FROM p").collect(),
    "IDENTIFIER": lambda spark: spark.sql("SELECT * FROM IDENTIFIER(:t)", {"t": PEOPLE}).collect(),
    "upper case": lambda spark: spark.sql(f"SELECT * FROM {PEOPLE.upper()}").collect(),
    "pandas": lambda spark: [tuple(row) for row in spark.table(PEOPLE).toPandas().itertuples(index=False)],
    "stream": _of_stream,
    "materialized view": _of_view,
}


def test_every_read_by_name_is_masked(spark: SparkSession, sql: Any) -> None:
    match = "MATCH COLUMNS has_tag_value('pii', 'ssn') AS c ON COLUMN c"
    sql(f"CREATE POLICY hide ON SCHEMA {SCHEMA} {MASK} {EVERYBODY} {match}")
    for name, read in READS.items():
        assert sorted(map(tuple, read(spark))) == HIDDEN, name
