"""The information schema as users query it: what statements said is what its rows tell."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lakeward.session import INFORMATION_SCHEMA, Settings
from tests.sql.governed import Governed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Ask = Callable[..., list[tuple[Any, ...]]]

MADE = [
    "CREATE CATALOG IF NOT EXISTS informed COMMENT 'for this test'",
    "CREATE SCHEMA IF NOT EXISTS informed.shop",
    "USE informed.shop",
    "DROP TABLE IF EXISTS orders",
    "DROP TABLE IF EXISTS customers",
    "CREATE TABLE customers (id INT NOT NULL PRIMARY KEY, region STRING, ssn STRING)",
    (
        "CREATE TABLE orders (n BIGINT GENERATED ALWAYS AS IDENTITY, customer INT, day DATE, "
        "price DECIMAL(8, 2), CONSTRAINT of FOREIGN KEY (customer) REFERENCES customers) PARTITIONED BY (day)"
    ),
    "ALTER TABLE orders ADD CONSTRAINT positive_price CHECK (price > 0)",
    "CREATE OR REPLACE VIEW all_orders AS SELECT * FROM orders",
    "CREATE OR REPLACE FUNCTION twice(x INT COMMENT 'a number') RETURNS INT COMMENT 'x, x' RETURN x + x",
    "CREATE OR REPLACE FUNCTION several(n INT) RETURNS TABLE (id BIGINT) RETURN SELECT bigint(n) AS id",
    "CREATE VOLUME IF NOT EXISTS landing COMMENT 'files'",
    "ALTER TABLE customers SET TAGS ('pii' = 'yes')",
    "ALTER TABLE customers ALTER COLUMN ssn SET TAGS ('kind' = 'ssn')",
    "ALTER SCHEMA shop SET TAGS ('team' = 'x')",
    "GRANT SELECT, MODIFY ON TABLE customers TO `ann`",
    "GRANT USE CATALOG, SELECT ON CATALOG informed TO `everybody`",
    "GRANT READ VOLUME ON VOLUME landing TO `ann`",
    "ALTER TABLE orders OWNER TO `bob`",
    "ALTER TABLE customers ALTER COLUMN ssn SET MASK main.default.policy_hide USING COLUMNS (region)",
    "ALTER TABLE customers SET ROW FILTER main.default.policy_eu ON (region)",
]


@pytest.fixture(scope="module")
def made() -> list[str]:
    """What was made already, once for the module."""
    return []


@pytest.fixture
def ask(spark: SparkSession, made: list[str]) -> Ask:
    """The rows of a relation of the catalog's information schema."""
    if not made:
        Governed.functions(spark)
        for statement in MADE:
            spark.sql(statement)
        spark.sql("USE main.default")
        made.append("all")

    def rows(columns: str, relation: str, where: str = "true") -> list[tuple[Any, ...]]:
        text = f"SELECT {columns} FROM informed.information_schema.{relation} WHERE {where} ORDER BY ALL"
        return [tuple(row) for row in spark.sql(text).collect()]

    return rows


def test_every_relation_answers_with_its_columns(spark: SparkSession, ask: Ask) -> None:
    assert ask("*", "information_schema_catalog_name") == [("informed",)]
    there = {row[1] for row in spark.sql("SHOW TABLES IN informed.information_schema").collect()}
    assert there == set(INFORMATION_SCHEMA)
    frames = [spark.table(f"informed.information_schema.{name}").limit(0) for name in INFORMATION_SCHEMA]
    assert [f.schema.simpleString() for f in frames if not f.columns] == []


# A second schema with tables of the same names, and a key across schemas.
OTHERS = [
    "CREATE SCHEMA IF NOT EXISTS informed.other",
    (
        "CREATE TABLE IF NOT EXISTS informed.other.orders (n INT NOT NULL UNIQUE, "
        "CONSTRAINT across FOREIGN KEY (n) REFERENCES informed.shop.customers)"
    ),
    "ALTER TABLE informed.other.orders SET TAGS ('team' = 'y')",
    "GRANT SELECT ON TABLE informed.other.orders TO `ann`",
]


@pytest.fixture
def several_schemas(spark: SparkSession, ask: Ask) -> Iterator[Ask]:
    for statement in OTHERS:
        spark.sql(statement)
    yield ask
    spark.sql("DROP SCHEMA informed.other CASCADE")


@pytest.mark.parametrize("relation", INFORMATION_SCHEMA)
def test_filters_find_the_rows_that_a_reader_of_all_rows_finds(several_schemas: Ask, relation: str) -> None:
    """Filters on names are pushed into the relation; plain Python filters all of its rows here."""
    ask = several_schemas
    names = [each.partition(" ")[0] for each in INFORMATION_SCHEMA[relation].split(", ")]
    rows = ask("*", relation)
    for column in (each for each in names if each.endswith(("_catalog", "_schema", "_name"))):
        at = names.index(column)
        for value in [*sorted({str(row[at]) for row in rows if row[at] is not None})[:4], "nope"]:
            for where, wanted in {
                f"{column} = '{value}'": {value},
                f"'{value}' = {column} AND {column} IN ('nope', '{value}')": {value},
                f"{column} IN ('{value}', 'orders', 'shop')": {value, "orders", "shop"},
                f"{column} = '{value}' OR {column} = 'other'": {value, "other"},
                f"NOT {column} = '{value}'": {str(row[at]) for row in rows if row[at] is not None} - {value},
            }.items():
                assert ask("*", relation, where) == [row for row in rows if row[at] in wanted], where


def test_objects_that_a_filter_excludes_are_not_read(
    spark: SparkSession, several_schemas: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged table of another schema does not matter."""
    location = spark.sql("DESCRIBE DETAIL informed.other.orders").collect()[0]["location"]
    log = Path(location.removeprefix("file:")) / "_delta_log" / f"{0:020}.json"
    text = log.read_text()
    log.write_text("{")
    spark.catalog.refreshTable("informed.other.orders")
    try:
        for relation in ("tables", "columns", "table_constraints"):
            found = several_schemas("DISTINCT table_schema", relation, "table_schema = 'shop'")
            assert found == [("shop",)]
    finally:
        log.write_text(text)


def test_objects_are_reported_with_their_owners_and_kinds(ask: Ask) -> None:
    assert ask("catalog_name, comment", "catalogs") == [("informed", "for this test")]
    own = "table_schema = 'shop'"
    assert ask("table_name, table_type, commit_action", "tables", own) == [
        ("all_orders", "VIEW", "PRESERVE"),
        ("customers", "MANAGED", "PRESERVE"),
        ("orders", "MANAGED", "PRESERVE"),
    ]
    assert ask("table_owner, created <= last_altered", "tables", "table_name = 'orders'") == [("bob", True)]
    assert ask("volume_name, volume_type, comment", "volumes") == [("landing", "MANAGED", "files")]
    assert ask("table_name, is_materialized", "views") == [("all_orders", "false")]
    columns = "column_name, full_data_type, numeric_scale, is_identity, partition_ordinal_position"
    assert ask(columns, "columns", "table_name = 'orders'") == [
        ("customer", "int", 0, "NO", None),
        ("day", "date", None, "NO", 1),
        ("n", "bigint", 0, "YES", None),
        ("price", "decimal(8,2)", 2, "NO", None),
    ]


def test_routines_are_reported_with_their_parameters(ask: Ask) -> None:
    columns = "routine_name, data_type, full_data_type, routine_definition, comment"
    several, twice = ask(columns, "routines")
    assert twice == ("twice", "INT", "int", "x + x", "x, x")
    assert several[:2] == ("several", "TABLE")
    assert ask("specific_name, parameter_name, data_type, comment", "parameters") == [
        ("several", "n", "INT", None),
        ("twice", "x", "INT", "a number"),
    ]
    assert ask("specific_name, column_name, data_type", "routine_columns") == [("several", "id", "BIGINT")]


def test_rights_are_reported_with_where_they_come_from(ask: Ask) -> None:
    assert ask("grantee, privilege_type", "catalog_privileges") == [
        ("everybody", "SELECT"),
        ("everybody", "USE_CATALOG"),
    ]
    columns = "grantee, privilege_type, inherited_from"
    assert ask(columns, "table_privileges", "table_name = 'customers'") == [
        ("ann", "MODIFY", "NONE"),
        ("ann", "SELECT", "NONE"),
        ("everybody", "SELECT", "CATALOG"),
    ]
    assert ask(columns, "volume_privileges") == [("ann", "READ_VOLUME", "NONE")]
    assert ask("count(*)", "schema_privileges", "schema_name = 'shop'") == [(2,)]


def test_tags_and_policies_are_reported(ask: Ask) -> None:
    assert ask("schema_name, tag_name, tag_value", "schema_tags") == [("shop", "team", "x")]
    assert ask("table_name, tag_name, tag_value", "table_tags") == [("customers", "pii", "yes")]
    assert ask("column_name, tag_name, tag_value", "column_tags") == [("ssn", "kind", "ssn")]
    columns = "table_name, filter_catalog, filter_schema, filter_name, filter_col_usage"
    assert ask(columns, "row_filters") == [("customers", "main", "default", "policy_eu", "region")]
    columns = "table_name, column_name, mask_name, mask_col_usage"
    assert ask(columns, "column_masks") == [("customers", "ssn", "policy_hide", "region")]
    # The names that dbt uses.
    columns = "table_catalog, table_schema, column_name, using_columns"
    assert ask(columns, "column_masks") == [("informed", "shop", "ssn", "region")]
    columns = "table_catalog, table_schema, filter_name, target_columns"
    assert ask(columns, "row_filters") == [("informed", "shop", "policy_eu", "region")]


@pytest.mark.slow
def test_constraints_are_reported_and_can_be_dropped(spark: SparkSession, ask: Ask) -> None:
    columns = "table_name, constraint_name, constraint_type"
    assert ask(columns, "table_constraints") == [
        ("customers", "customers_pk", "PRIMARY KEY"),
        ("orders", "of", "FOREIGN KEY"),
        ("orders", "positive_price", "CHECK"),
    ]
    assert ask("constraint_name, check_clause", "check_constraints") == [("positive_price", "price > 0")]
    assert ask("constraint_name, unique_constraint_name", "referential_constraints") == [
        ("of", "customers_pk")
    ]
    assert ask("constraint_name, column_name, ordinal_position", "key_column_usage") == [
        ("customers_pk", "id", 1),
        ("of", "customer", 1),
    ]
    assert ask("constraint_name, table_name, column_name", "constraint_column_usage") == [
        ("customers_pk", "customers", "id"),
        ("of", "customers", "id"),
    ]
    orders = "ALTER TABLE informed.shop.orders"
    spark.sql(f"{orders} DROP CONSTRAINT of")
    spark.sql(f"{orders} DROP CONSTRAINT positive_price")
    spark.sql(f"{orders} ADD FOREIGN KEY (customer) REFERENCES informed.shop.customers (id)")
    assert ask(columns, "table_constraints", "table_name = 'orders'") == [
        ("orders", "orders_customers_fk", "FOREIGN KEY")
    ]
    spark.sql(f"{orders} DROP FOREIGN KEY (customer)")
    spark.sql(f"{orders} ADD CONSTRAINT positive_price CHECK (price > 0)")
    spark.sql(f"{orders} ADD CONSTRAINT of FOREIGN KEY (customer) REFERENCES informed.shop.customers")


@pytest.mark.parametrize(
    ("relation", "expected"),
    [("tables", {"a", "v", "z"}), ("columns", {"a", "v", "z"}), ("views", {"v"})],
)
def test_an_object_that_is_gone_when_it_is_read_hides_no_other(
    spark: SparkSession, suite_settings: Settings, relation: str, expected: set[str]
) -> None:
    spark.sql("DROP SCHEMA IF EXISTS main.vanishing CASCADE")
    spark.sql("CREATE SCHEMA main.vanishing")
    for name in ("a", "z"):
        spark.sql(f"CREATE TABLE main.vanishing.{name} (id INT)")
    spark.sql("CREATE VIEW main.vanishing.v AS SELECT 1 AS id")
    schema = suite_settings.warehouse / "main" / "vanishing"
    # Listed, and never found: names of tables are in lower case.
    shutil.copytree(schema / "a", schema / "Gone")
    found = spark.table(f"main.information_schema.{relation}").where("table_schema = 'vanishing'")
    assert {row["table_name"] for row in found.collect()} - {"Gone"} == expected
    spark.sql("DROP SCHEMA main.vanishing CASCADE")


def test_the_one_of_system_tells_of_every_catalog(spark: SparkSession, ask: Ask) -> None:
    assert ask("*", "catalog_tags") == []
    tags = spark.table("system.information_schema.table_tags").where("table_name = 'customers'")
    assert tags.select("catalog_name").distinct().collect() == [("informed",)]
    catalogs = spark.table("system.information_schema.catalogs").select("catalog_name").collect()
    assert {"main", "informed"} <= {row[0] for row in catalogs}


def test_tags_follow_their_columns_and_tables(spark: SparkSession) -> None:
    """A renamed column keeps its tags, or reports and checks would show what the tag protects."""
    schema = "informed_tags"
    spark.sql(f"DROP SCHEMA IF EXISTS main.{schema} CASCADE")
    spark.sql(f"CREATE SCHEMA main.{schema}")
    table = f"main.{schema}.people"

    def tagged() -> list[tuple[str, str, str]]:
        rows = spark.sql(
            "SELECT table_name, column_name, tag_name FROM main.information_schema.column_tags "
            f"WHERE schema_name = '{schema}' ORDER BY ALL"
        )
        return [tuple(row) for row in rows.collect()]

    spark.sql(
        f"CREATE TABLE {table} (id INT, Email STRING, home STRUCT<street: STRING>, note STRING) "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    for column in ("email", "note"):
        spark.sql(f"ALTER TABLE {table} ALTER COLUMN {column} SET TAGS ('pii')")
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN EMAIL TO mail")
    assert tagged() == [("people", "mail", "pii"), ("people", "note", "pii")]
    spark.sql(f"ALTER TABLE {table} DROP COLUMN note")
    spark.sql(f"ALTER TABLE {table} ADD COLUMN note STRING")
    assert tagged() == [("people", "mail", "pii")]
    spark.sql(f"ALTER TABLE {table} RENAME TO main.{schema}.persons")
    assert tagged() == [("persons", "mail", "pii")]
    spark.sql(f"DROP SCHEMA main.{schema} CASCADE")


def _names(listing: str, catalog: str) -> Callable[[SparkSession], list[str]]:
    return lambda spark: [row[0] for row in spark.sql(listing.format(catalog=catalog)).collect()]


def _catalog_api(catalog: str) -> Callable[[SparkSession], list[str]]:
    def listed(spark: SparkSession) -> list[str]:
        spark.sql(f"USE CATALOG {catalog}")
        try:
            return [each.name for each in spark.catalog.listDatabases()]
        finally:
            spark.sql("USE main.default")

    return listed


LISTINGS = [
    "SHOW SCHEMAS IN {catalog}",
    "SHOW DATABASES IN {catalog} LIKE 'information*'",
    "SELECT schema_name FROM {catalog}.information_schema.schemata",
    "SELECT table_schema FROM {catalog}.information_schema.tables WHERE table_name = 'key_column_usage'",
    (
        "SELECT table_schema FROM system.information_schema.columns "
        "WHERE table_catalog = '{catalog}' AND column_name = 'is_insertable_into'"
    ),
]


@pytest.mark.usefixtures("ask")
@pytest.mark.parametrize("catalog", ["main", "informed"])
def test_listings_of_schemas_have_the_information_schema(spark: SparkSession, catalog: str) -> None:
    for listing in (*(_names(each, catalog) for each in LISTINGS), _catalog_api(catalog)):
        assert "information_schema" in listing(spark)


def test_hive_metastore_has_no_information_schema(spark: SparkSession) -> None:
    for listing in (_names(LISTINGS[0], "hive_metastore"), _catalog_api("hive_metastore")):
        assert "information_schema" not in listing(spark)
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("SELECT * FROM hive_metastore.information_schema.tables")


def test_the_information_schema_is_described_as_the_system_users(spark: SparkSession) -> None:
    about = dict(spark.sql("DESCRIBE SCHEMA EXTENDED main.information_schema").take(5))
    assert about["Namespace Name"] == "information_schema" and about["Owner"] == "System user"
    rows = spark.sql(
        "SELECT table_type, table_owner, is_insertable_into FROM main.information_schema.tables "
        "WHERE table_schema = 'information_schema'"
    )
    assert rows.distinct().collect() == [("VIEW", "System user", "NO")]
    assert rows.count() == len(INFORMATION_SCHEMA)


NAME = "main.information_schema"
OWN = "main.default.informing"
# By the right that the refusal names; {0} is the schema, {1} a table of the user.
REFUSED = {
    "CREATE TABLE": (
        "CREATE TABLE {0}.t (id INT)",
        "CREATE TABLE {0}.t AS SELECT 1 AS id",
        "CREATE OR REPLACE TABLE {0}.t (id INT)",
        "CREATE VIEW {0}.v AS SELECT 1 AS id",
        "CREATE OR REPLACE VIEW {0}.tables AS SELECT 1 AS id",
        "ALTER TABLE {1} RENAME TO {0}.x",
    ),
    "CREATE VOLUME": ("CREATE VOLUME {0}.files",),
    "CREATE FUNCTION": (
        "CREATE FUNCTION {0}.f() RETURNS INT RETURN 1",
        "CREATE FUNCTION {0}.f() RETURNS TABLE (id INT) RETURN SELECT 1",
        "CREATE PROCEDURE {0}.p() LANGUAGE SQL SQL SECURITY INVOKER AS BEGIN SELECT 1; END",
    ),
    "MODIFY": (
        "INSERT INTO {0}.tables VALUES (1)",
        "INSERT INTO {0}.tables SELECT id FROM {1}",
        "UPDATE {0}.tables SET table_name = 'x'",
        "DELETE FROM {0}.tables",
        "MERGE INTO {0}.tables t USING {1} s ON t.table_name = 'x' WHEN MATCHED THEN DELETE",
    ),
    "owner": (
        "DROP SCHEMA {0}",
        "DROP SCHEMA IF EXISTS {0} CASCADE",
        "COMMENT ON SCHEMA {0} IS 'x'",
        "ALTER SCHEMA {0} SET TAGS ('a' = 'b')",
        "ALTER SCHEMA {0} OWNER TO `x`",
        "DROP TABLE {0}.tables",
        "DROP TABLE IF EXISTS {0}.tables",
        "DROP VIEW {0}.tables",
        "DROP VIEW IF EXISTS {0}.tables",
        "ALTER TABLE {0}.tables RENAME TO {0}.x",
        "ALTER TABLE {0}.tables RENAME TO main.default.x",
        "ALTER TABLE {0}.tables ADD COLUMN b INT",
        "ALTER TABLE {0}.tables SET TBLPROPERTIES ('a' = 'b')",
        "ALTER TABLE {0}.tables SET TAGS ('a' = 'b')",
        "ALTER TABLE {0}.tables OWNER TO `x`",
        "COMMENT ON TABLE {0}.tables IS 'x'",
    ),
}


@pytest.mark.parametrize("schema", [NAME, NAME.upper()])
@pytest.mark.parametrize("right", REFUSED)
def test_the_information_schema_cannot_be_changed(spark: SparkSession, right: str, schema: str) -> None:
    spark.sql(f"CREATE TABLE IF NOT EXISTS {OWN} (id INT)")
    own = OWN if schema == NAME else OWN.upper()
    for statement in REFUSED[right]:
        with pytest.raises(Exception, match="INSUFFICIENT_PERMISSIONS") as caught:
            spark.sql(statement.format(schema, own))
        assert re.search(rf"does not have {right} on|is not an {right} of", str(caught.value)), statement
    assert spark.table(f"{NAME}.tables").count() > 0


@pytest.mark.parametrize("securable", ["SCHEMA {}", "TABLE {}.tables", "VIEW {}.views"])
def test_rights_on_the_information_schema_can_be_granted(spark: SparkSession, securable: str) -> None:
    name = securable.format(NAME)
    spark.sql(f"GRANT SELECT ON {name} TO `ann`")
    assert ("ann", "SELECT") in [row[:2] for row in spark.sql(f"SHOW GRANTS ON {name}").collect()]
    spark.sql(f"REVOKE SELECT ON {name} FROM `ann`")
    assert spark.sql(f"SHOW GRANTS `ann` ON {name}").collect() == []


@pytest.mark.parametrize("schema", [NAME, NAME.upper()])
def test_the_information_schema_exists_for_create_schema(spark: SparkSession, schema: str) -> None:
    with pytest.raises(Exception, match="SCHEMA_ALREADY_EXISTS"):
        spark.sql(f"CREATE SCHEMA {schema}")
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")


@pytest.mark.parametrize("schema", [NAME, NAME.upper(), "system.information_schema"])
def test_relations_are_listed_as_views(spark: SparkSession, schema: str) -> None:
    listed = spark.sql(f"SHOW VIEWS IN {schema}").collect()
    assert sorted(row[1] for row in listed if not row[2]) == sorted(INFORMATION_SCHEMA)
    assert [row[1] for row in spark.sql(f"SHOW VIEWS IN {schema} LIKE 'vie*'").collect()] == ["views"]
    # A relation is in it once, and not listed as a view of the user.
    tables = spark.table(f"{schema}.tables").where("table_schema = 'information_schema'")
    assert tables.where("table_catalog = 'main'").count() == len(INFORMATION_SCHEMA)
    assert spark.table(f"{schema}.views").where("table_schema = 'information_schema'").count() == 0


def test_a_table_is_renamed_whatever_the_case_of_its_catalog(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TABLE main.default.informing_a (id INT)")
    spark.sql("DROP TABLE IF EXISTS main.default.informing_b")
    spark.sql("ALTER TABLE MAIN.default.informing_a RENAME TO MAIN.default.informing_b")
    assert spark.table("main.default.informing_b").columns == ["id"]


def test_a_folder_of_that_name_does_not_hide_the_relations(
    spark: SparkSession, suite_settings: Settings
) -> None:
    """A lakehouse of an earlier release may have stored a view there."""
    spark.sql("CREATE CATALOG IF NOT EXISTS informed_before")
    spark.sql("CREATE SCHEMA IF NOT EXISTS informed_before.other")
    spark.sql("CREATE OR REPLACE VIEW informed_before.other.tables AS SELECT 'mine' AS table_name")
    spark.sql("CREATE OR REPLACE TABLE informed_before.other.columns (mine INT)")
    folder = suite_settings.warehouse / "informed_before"
    shutil.copytree(folder / "other", folder / "information_schema")
    try:
        assert "table_owner" in spark.table("informed_before.information_schema.tables").columns
        assert "column_name" in spark.table("informed_before.information_schema.columns").columns
        listed = spark.sql("SHOW TABLES IN informed_before.information_schema").collect()
        assert sorted(row[1] for row in listed if not row[2]) == sorted(INFORMATION_SCHEMA)
        schemas = [row[0] for row in spark.sql("SHOW SCHEMAS IN informed_before").collect()]
        assert schemas.count("information_schema") == 1
    finally:
        shutil.rmtree(folder / "information_schema")
        spark.sql("DROP CATALOG informed_before CASCADE")


def test_a_catalog_without_other_schemas_can_be_dropped(spark: SparkSession) -> None:
    spark.sql("CREATE CATALOG informed_and_empty")
    spark.sql("CREATE SCHEMA IF NOT EXISTS informed_and_empty.information_schema")
    spark.sql("DROP CATALOG informed_and_empty")
    assert "informed_and_empty" not in [row[0] for row in spark.sql("SHOW CATALOGS").collect()]
