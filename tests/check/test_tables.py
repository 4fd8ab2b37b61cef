"""Tables that are read and that nothing in the repository makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.databricks_shims import provided_tables
from lakeward.seeds import seed_hint
from lakeward.session import INFORMATION_SCHEMA
from tests.check.conftest import Look

READS = 'spark.table("main.sales.orders")\n'


@pytest.mark.parametrize(
    "reading",
    [
        'spark.table("main.sales.orders")',
        'spark.read.table("main.sales.orders")',
        'spark.readStream.option("a", 1).table("main.sales.orders")',
        'spark.sql("select * from main.sales.orders o")',
        'spark.sql("select * from a cross join `main`.`sales`.orders")\nspark.range(1).createTempView("a")',
        'spark.sql("insert into main.sales.orders select 1")',
        'spark.sql("merge into main.sales.orders using (select 1) on true when matched then delete")',
        'DeltaTable.forName(spark, "main.sales.orders")\nfrom delta.tables import DeltaTable',
        'NAME = "main.sales.orders"\ndef f():\n    return spark.table(NAME)',
        'CATALOG = "main"\nspark.table(f"{CATALOG}.sales.orders")',
        'spark.table("main" + ".sales.orders")',
        'spark.table("{}.sales.orders".format("main"))\nspark.table("main.sales.orders")',
        'df.write.insertInto("main.sales.orders")',
    ],
)
def test_a_table_that_nothing_makes_needs_a_seed(look: Look, reading: str) -> None:
    imports = [line for line in reading.splitlines() if line.startswith("from")]
    found = look("\n".join([*imports, reading]))
    assert "table main.sales.orders" in found.tables()
    assert "main.sales.orders" in found.one("table main.sales.orders").cure


@pytest.mark.parametrize(
    "making",
    [
        {"make.py": 'df.write.mode("overwrite").saveAsTable("main.sales.orders")'},
        {"make.py": 'df.write.saveAsTable(f"{catalog}.sales.orders")'},
        {"make.py": 'df.write.saveAsTable("orders")'},
        {"make.py": 'df.writeStream.toTable("SALES.Orders")'},
        {"make.py": 'df.writeStream.outputMode("append").table("main.sales.orders")'},
        {"make.py": 'df.writeTo("main.sales.orders").createOrReplace()'},
        {"make.py": "import dlt\n@dlt.table\ndef orders(): pass\n"},
        {"make.py": "import dlt\n@dlt.view(name='orders')\ndef f(): pass\n"},
        {"make.py": "import dlt\ndlt.create_streaming_table('orders')\n"},
        {"make.py": 'df.createOrReplaceTempView("orders")'},
        {"make.py": 'spark.sql("create table if not exists main.sales.orders (a int)")'},
        {"make.py": 'from delta import DeltaTable\nDeltaTable.create(s).tableName("sales.orders").execute()'},
        {"make.py": 'df.writeStream.format("memory").queryName("orders").start()'},
        {"make.py": 'def test_orders(lakehouse):\n    lakehouse.seed("main.sales.orders", [{"id": 1}])'},
        {"make.sql": "CREATE OR REPLACE TABLE main.sales.orders AS SELECT 1"},
        {"make.sql": "create view sales.orders as select 1"},
        {"make.sql": "create table ${catalog}.sales.orders (a int)"},
        {"make.py": "import dlt\n@dlt.table(name=full('orders', 'sales'))\ndef f(): return spark.range(1)"},
        {"make.py": "from pyspark import pipelines as dp\ndp.create_streaming_table(full(table='orders'))"},
    ],
    ids=lambda files: next(iter(files.values())),
)
def test_a_table_that_the_repository_makes_needs_none(look: Look, making: dict[str, str | bytes]) -> None:
    assert look({"read.py": READS, **making}).tables() == []


def test_another_table_of_the_name_is_another_table(look: Look) -> None:
    found = look({"read.py": READS, "make.sql": "create table dev.sales.orders (a int)"})
    assert found.tables() == ["table main.sales.orders"]


@pytest.mark.parametrize(
    "query",
    [
        "with a as (select 1 as x), b as (select * from a) select * from a join b using (x)",
        "with a (select 1 as x) select * from a",
        "with a (x) as (select 1), b(y) (select (2)) select * from a, b",
        "with recursive a(x) max recursion level 9 as (select 1 union all select 2 from a) select * from a",
        "with `a` as (select 1 as x) select * from `a`",
        "select * from (with a as (select 1 as x) select * from a)",
        "select * from range(3), explode(array(1))",
    ],
)
@pytest.mark.parametrize("verb", ["{}", "insert into d.t {}", "insert overwrite table d.t (x) {}"])
def test_names_of_a_query_and_functions_are_no_tables(look: Look, query: str, verb: str) -> None:
    assert look({"q.sql": f"create table d.t (x int); {verb.format(query)}"}).tables() == []


def test_a_name_is_a_table_where_no_with_defines_it(look: Look) -> None:
    found = look({"q.sql": "create or replace view v as (select * from v); select cast(1 as int), a from a"})
    assert found.tables() == ["table a"]


@pytest.mark.parametrize("verb", ["create or replace table", "create table if not exists"])
def test_a_table_that_is_named_by_its_path_needs_no_schema(look: Look, verb: str) -> None:
    found = look(
        {"q.sql": f"{verb} delta.`/Volumes/c/s/v/t` (x int); select * from delta.`/Volumes/c/s/v/t`"}
    )
    assert found.of("needs_seed") == []


def test_names_that_only_a_run_knows_are_not_reported(look: Look) -> None:
    assert (
        look("spark.table(name)\nspark.table(f'{a}.{b}')\nspark.sql(f'select * from {t}')\n").report.findings
        == ()
    )


def test_a_parameter_hides_a_constant_of_its_name(look: Look) -> None:
    assert look('table = "a.b"\ndef f(table):\n    return spark.table(table)\n').report.findings == ()


def test_a_declared_seed_is_there(look: Look) -> None:
    declared = '[tool.lakeward.seeds]\n"main.sales.orders" = "orders.csv"\n'
    assert look({"read.py": READS, "pyproject.toml": declared}).tables() == []
    wrong = look({"pyproject.toml": "[tool.lakeward.seeds]\na = 1\n"}).report
    assert [each.place.file for each in wrong.unread] == ["pyproject.toml"] and len(wrong.blocking) == 1


def test_a_table_of_the_projects_own_lakehouse_is_there(look: Look, tmp_path: Path) -> None:
    (tmp_path / ".lakeward/dev/warehouse/main/sales/orders/_delta_log").mkdir(parents=True)
    assert look(READS + "spark.table('main.sales.items')").tables() == ["table main.sales.items"]


def test_a_missing_tables_cure_is_what_its_error_says(look: Look) -> None:
    assert look(READS).one("table main.sales.orders").cure == seed_hint("main.sales.orders")


def test_tables_that_every_workspace_has_need_no_seed(look: Look) -> None:
    reads = "".join(f"spark.table('{name}')\n" for name in provided_tables())
    assert set(look(reads).verdicts().values()) == {"runs_with_lakeward"}
    assert look("spark.table('samples.nyctaxi.unknown')").tables() == ["table samples.nyctaxi.unknown"]


def test_live_is_no_schema(look: Look) -> None:
    text = "import dlt\n@dlt.table\ndef a(): pass\n@dlt.table\ndef b():\n    return spark.table('LIVE.a')\n"
    assert look(text).tables() == []
    assert look(text.replace("LIVE.a", "LIVE.c")).tables() == ["table c"]


def test_a_hole_matches_what_it_represents_and_no_more(look: Look) -> None:
    files = {"make.py": "df.write.saveAsTable(f'main.gold.{env}_orders')\n"}
    reads = "spark.table('main.gold.dev_orders')\nspark.table('main.gold.dev_orders_old')\n"
    assert look({**files, "read.py": reads}).tables() == ["table main.gold.dev_orders_old"]


@pytest.mark.parametrize(
    "sql",
    [
        "with a as (select 1), b (x) as (select * from a) select * from a, b",
        "select extract(year from day) as y, trim(both ' ' from s), a is distinct from b",
        "select * from (select 1) x join lateral (select 2) y",
        "select * from explode(array(1)), range(3)",
        "show tables from a; show columns in t from a",
        "revoke select on table t from `analysts`; revoke execute on function f from users",
        "select 'from nowhere.t' -- from nowhere.t",
        "show tables in main.nowhere",
        "select * from identifier(:name)",
        "select * from values (1), (2)",
    ],
)
def test_what_is_no_table_needs_no_seed(look: Look, sql: str) -> None:
    assert look({"q.sql": sql}).tables() == []


@pytest.mark.parametrize("name", ["countries.parquet", "data/countries", "*.parquet"])
@pytest.mark.parametrize("verb", ["select * from", "merge into t using", "insert into"])
@pytest.mark.parametrize(
    "kind", ["parquet", "DELTA", "json", "csv", "binaryFile", "xml", "text", "orc", "avro"]
)
def test_a_format_and_a_relative_path_are_no_table(look: Look, kind: str, verb: str, name: str) -> None:
    found = look({"q.sql": f"create table t (a int); {verb} {kind}.`{name}` s"})
    assert found.tables() == []
    assert look({"q.sql": f"{verb} {kind}.countries s"}).tables()[-1] == f"table {kind.lower()}.countries"


@pytest.mark.parametrize(
    "reading",
    [
        'spark.table("main.sales.orders@v3")',
        'spark.read.table("sales.ORDERS@V12")',
        'spark.table("main.sales.orders@20260131235959999")',
        'spark.table(f"main.sales.orders@v{version}")',
        'spark.table("main.sales.orders@v%s" % version)',
        'spark.table("main.sales.orders@v{}".format(version))',
        'spark.table("main.sales.orders@" + when)',
        'spark.sql("select * from main.sales.orders@v3")',
    ],
)
def test_an_older_version_is_the_same_table(look: Look, reading: str) -> None:
    (table,) = look({"read.py": reading}).tables()
    assert table in ("table main.sales.orders", "table sales.orders")
    assert look({"read.py": reading, "make.sql": "create table main.sales.orders (a int)"}).tables() == []


def test_the_information_schema_has_the_relations_that_are_declared(look: Look) -> None:
    sql = "select * from main.information_schema.tables; select * from system.information_schema.metastores"
    assert "metastores" not in INFORMATION_SCHEMA
    assert look({"q.sql": sql}).verdicts() == {
        "information_schema": "runs_with_lakeward", "table system.information_schema.metastores": "refused"
    }  # fmt: skip


def test_a_table_in_sql_has_its_own_place(look: Look) -> None:
    text = 'spark.sql(f"""\n    select *\n      from {env}.sales.items\n    """)\n'
    assert look(text).places("table {…}.sales.items") == ["job.py:3:12"]
    found = look({"q.sql": "-- one\nselect 1;\nselect *\n  from a.b,\n       c.d x"})
    assert found.places("table a.b") == ["q.sql:4:8"] and found.places("table c.d") == ["q.sql:5:8"]
