"""The analysis: all errors together, in any order of files, without writing anything (INV-10, SDP-7.4)."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from lakeward.errors import ConfigurationError
from tests.pipelines.conftest import Lab, result


def everything_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in str(path)}


def test_a_dry_run_finds_every_mistake_at_once_and_writes_nothing(lab: Lab) -> None:
    lab.seed("raw", "SELECT 1 id, 'x' name")
    lab.file("cycle.py", """
        from pyspark import pipelines as dp
        @dp.materialized_view
        def one(): return spark.read.table("two")
        @dp.materialized_view
        def two(): return spark.sql("SELECT * FROM three WHERE 1 = 1")
        @dp.temporary_view
        def three(): return dp.read("one")
    """)  # fmt: skip
    lab.file("names.py", """
        from pyspark import pipelines as dp
        @dp.table
        def customers(): return spark.readStream.table("SRC.raw")
        @dp.materialized_view
        def by_name(): return spark.sql("SELECT name FROM custommers")
        @dp.materialized_view
        def strict(): return dp.read("customer")
    """)  # fmt: skip
    lab.file("kinds.py", """
        from pyspark import pipelines as dp
        dp.create_streaming_table("nothing_flows")
        dp.create_streaming_table("target")
        @dp.append_flow(target="target")
        def batch_flow(): return spark.read.table("SRC.raw")
        @dp.materialized_view
        def streaming_view(): return spark.readStream.table("SRC.raw")
        @dp.materialized_view
        def two_queries(): return spark.read.table("SRC.raw")
        @dp.append_flow(target="two_queries")
        def second(): return spark.readStream.table("SRC.raw")
        @dp.materialized_view
        def gives_nothing(): spark.range(1)
        @dp.materialized_view
        def column(): return spark.read.table("SRC.raw").select("nam")
        @dp.materialized_view
        def raises(): return [][1]
        dp.create_streaming_table("shapes")
        for number, text in enumerate(["id", "CAST(id AS STRING) AS ID", "array(id) AS id", "id AS x"]):
            @dp.append_flow(target="shapes", name=f"shape_{number}")
            def shape(text=text): return spark.readStream.table("SRC.raw").selectExpr(text)
    """)  # fmt: skip
    lab.file("rules.py", """
        from pyspark import pipelines as dp
        @dp.expect("no such column", "prize > 0")
        @dp.expect_or_drop("no sql", "id >")
        @dp.expect("no condition", "id")
        @dp.table(schema="id int, extra string, name int")
        def ruled(): return spark.readStream.table("SRC.raw")
        @dp.expect("no such column", "prize > 0")
        @dp.expect_or_drop("no sql", "id >")
        @dp.expect("no condition", "name || id")
        @dp.table
        def also_ruled(): return spark.readStream.table("SRC.raw")
    """)  # fmt: skip
    before = everything_below(lab.folder), everything_below(lab.settings.home)
    update = lab.run(dry_run=True)
    assert update.state == "FAILED" and update.error is not None
    conditions = [line.split("]")[0][1:] for line in update.error.splitlines() if line.startswith("[")]
    assert sorted(conditions) == sorted([
        "PIPELINE_GRAPH_CYCLE",
        "TABLE_OR_VIEW_NOT_FOUND",
        "DATASET_NOT_FOUND",
        "PIPELINE_DATASET_WITHOUT_FLOW",
        "INVALID_FLOW_QUERY_TYPE.BATCH_RELATION_FOR_STREAMING_TABLE",
        "INVALID_FLOW_QUERY_TYPE.STREAMING_RELATION_FOR_MATERIALIZED_VIEW",
        "MATERIALIZED_VIEW_WITH_MULTIPLE_QUERIES",
        "INVALID_FLOW_QUERY",
        "UNRESOLVED_COLUMN.WITH_SUGGESTION",
        "PIPELINE_SOURCE_FAILED",
        "UNABLE_TO_INFER_PIPELINE_TABLE_SCHEMA",
        "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE",
        "UNRESOLVED_COLUMN.WITH_SUGGESTION",
        "PARSE_SYNTAX_ERROR",
        "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN",
    ])  # fmt: skip
    assert "one → two → three → one" in update.error
    assert "Did you mean `customers`?" in update.error and "lakeward seed" in update.error
    assert "kinds.py:16" in update.error and "kinds.py:18: IndexError" in update.error
    assert "'no such column' on `also_ruled`" in update.error
    assert "`shape_2` writes `id` as array<int>" in update.error
    assert "Traceback" not in update.error and "lakeward/pipelines" not in update.error
    assert result(update, "customers").state == "COMPLETED"
    assert (everything_below(lab.folder), everything_below(lab.settings.home)) == before


def test_a_good_dry_run_writes_nothing_either(lab: Lab) -> None:
    lab.seed("raw", "SELECT 1 id")
    lab.file("a.py", """
        import dlt
        @dlt.table
        def bronze(): return spark.readStream.table("SRC.raw")
    """)  # fmt: skip
    before = everything_below(lab.folder), everything_below(lab.settings.home)
    assert lab.done(dry_run=True).datasets[0].kind == "streaming_table"
    assert (everything_below(lab.folder), everything_below(lab.settings.home)) == before


STREAMS = {
    "read_stream": "return spark.readStream.table('SRC.missing')",
    "dp": "return dp.read_stream('missing')",
    "sql": "return spark.sql('SELECT * FROM STREAM(SRC.missing)')",
    "sql without brackets": "return spark.sql('select * from stream SRC.missing')",
    "nested": "def rows(): return spark.readStream.table('SRC.missing')\n    return rows()",
}
BATCHES = {
    "read": "return spark.read.table('SRC.missing')",
    "sql": "return spark.sql('SELECT stream FROM SRC.missing')",
}


@pytest.mark.rule("SDP-1.3-R1")
def test_a_table_that_fails_is_shown_with_the_kind_that_its_code_has(lab: Lab) -> None:
    kinds = {"streaming_table": STREAMS, "materialized_view": BATCHES}
    expected = {}
    for kind, bodies in kinds.items():
        for number, body in enumerate(bodies.values()):
            name = f"{kind}_{number}"
            expected[name] = kind
            text = f"from pyspark import pipelines as dp\n@dp.table\ndef {name}():\n    {body}\n"
            lab.file(f"{name}.py", text)
    lab.file("a.sql", "CREATE STREAMING TABLE declared AS SELECT * FROM STREAM(SRC.missing)")
    update = lab.run()
    assert update.state == "FAILED"
    found = {each.name: each.kind for each in update.datasets}
    assert found == {**expected, "declared": "streaming_table"}


def test_the_pipelines_schema_is_made_by_an_update_and_not_by_a_dry_run(lab: Lab) -> None:
    lab.spark.sql(f"DROP SCHEMA main.{lab.schema}")
    lab.file("a.py", "import dlt\n@dlt.table\ndef a(): return spark.range(3)")
    lab.file("b.sql", "CREATE MATERIALIZED VIEW b AS SELECT count(*) AS n FROM a")
    lab.done(dry_run=True)
    assert not lab.spark.catalog.databaseExists(f"main.{lab.schema}")
    lab.done()
    assert lab.rows("b") == [(3,)]


def test_any_order_of_files_gives_the_same_plan(lab: Lab) -> None:
    lab.seed("raw", "SELECT 1 id")
    texts = {
        "x": "@dp.table\ndef bronze(): return spark.readStream.table('SRC.raw')",
        "y": "@dp.temporary_view\ndef tidy(): return dp.read_stream('Bronze')",
        "z": "@dp.table\ndef silver(): return spark.sql('SELECT * FROM STREAM(tidy)')",
    }
    plans = set()
    for order in permutations(texts):
        for i, name in enumerate(order):
            lab.file(f"f{i}.py", f"from pyspark import pipelines as dp\n{texts[name]}\n")
        update = lab.done(dry_run=True)
        plans.add(tuple(sorted((dataset.name, dataset.kind) for dataset in update.datasets)))
    assert plans == {(("bronze", "streaming_table"), ("silver", "streaming_table"), ("tidy", "view"))}


def test_eager_calls_in_functions_see_schemas_and_no_rows_r7(lab: Lab) -> None:
    lab.seed("raw", "SELECT 1 id, 2 b")
    lab.file("a.py", """
        import dlt
        @dlt.table
        def second():
            assert spark.table("first").schema.fieldNames() == ["id", "b"]
            names = [c for c in dlt.read("LIVE.first").columns if c != "b"]
            rows = spark.sql("SELECT count(*) n FROM first").collect()[0].n
            return spark.read.table("first").select(*names).selectExpr("*", f"{rows} AS seen")
        @dlt.table
        def first(): return spark.readStream.table("SRC.raw")
    """)  # fmt: skip
    lab.done(dry_run=True)
    lab.done()
    assert lab.rows("second") == [(1, 1)]


def test_a_batch_read_of_a_streaming_view_is_refused(lab: Lab) -> None:
    lab.seed("raw", "SELECT 1 id")
    lab.file("a.py", """
        import dlt
        @dlt.view
        def v(): return spark.readStream.table("SRC.raw")
        @dlt.table
        def t(): return dlt.read("v")
    """)  # fmt: skip
    assert "INCOMPATIBLE_VIEW_CHECK" in str(lab.run(dry_run=True).error)


def test_a_table_of_another_owner_is_never_replaced(lab: Lab) -> None:
    lab.spark.sql(f"CREATE TABLE main.{lab.schema}.mine AS SELECT 'precious' x")
    lab.file("a.py", "import dlt\n@dlt.table\ndef mine(): return spark.range(1)\n")
    assert "TABLE_ALREADY_MANAGED" in str(lab.run().error)
    assert lab.rows("mine") == [("precious",)]


def test_a_function_that_catches_exceptions_does_not_hide_a_failed_input(lab: Lab) -> None:
    lab.file("a.py", """
        import dlt
        @dlt.table
        def careful():
            try:
                return spark.table("broken")
            except Exception:
                return spark.range(7)
        @dlt.table
        def broken(): return spark.range(1).select("nope")
    """)  # fmt: skip
    update = lab.run()
    assert result(update, "careful").state == "SKIPPED" and result(update, "broken").state == "FAILED"


@pytest.mark.parametrize("flag", ["refresh", "full_refresh"])
def test_unknown_names_to_refresh_are_wrong_usage(lab: Lab, flag: str) -> None:
    lab.file("a.py", "import dlt\n@dlt.table\ndef orders(): return spark.range(1)\n")
    with pytest.raises(ConfigurationError, match="Did you mean `orders`"):
        lab.run(**{flag: ["order"]})


@pytest.mark.parametrize("path", ["missing", "empty", "text.txt"])
def test_paths_without_sources_are_wrong_usage(lab: Lab, path: str) -> None:
    from lakeward import pipelines

    (lab.folder / "empty").mkdir()
    (lab.folder / "text.txt").write_text("")
    with pytest.raises(ConfigurationError, match=path):
        pipelines.run([lab.folder / path], session=lab.spark, settings=lab.settings)


def test_a_setting_has_one_value_in_a_flow_and_the_views_that_it_reads(lab: Lab) -> None:
    lab.file("a.py", """
        from pyspark import pipelines as dp
        def of(value): return {"spark.sql.shuffle.partitions": value, "my." + value: value}
        @dp.temporary_view(spark_conf=of("3"))
        def three(): return spark.range(3)
        @dp.temporary_view(spark_conf=of("5"))
        def five(): return spark.range(3)
        @dp.temporary_view
        def nested(): return spark.sql("SELECT * FROM five")
        @dp.materialized_view(spark_conf=of("3"))
        def same(): return spark.read.table("three")
        @dp.materialized_view
        def without(): return spark.read.table("five")
        @dp.materialized_view(spark_conf=of("7"))
        def of_a_table(): return spark.read.table("same")
        @dp.materialized_view(spark_conf=of("5"))
        def own(): return spark.read.table("three")
        @dp.materialized_view
        def two(): return spark.read.table("three").union(spark.read.table("five"))
        @dp.materialized_view
        def sql(): return spark.sql("SELECT * FROM three UNION ALL SELECT * FROM five")
        @dp.materialized_view(spark_conf=of("3"))
        def inner(): return spark.read.table("nested")
    """)  # fmt: skip
    update = lab.run(dry_run=True)
    assert update.error is not None
    found = [line for line in update.error.splitlines() if line.startswith("[")]
    assert all(line.startswith("[DUPLICATE_FLOW_SQL_CONF] ") for line in found), found
    for name, one, other in (
        ("own", "three", "own"),
        ("two", "three", "five"),
        ("sql", "three", "five"),
        ("inner", "five", "inner"),
    ):
        shown = next(line for line in found if f".{name}'" in line)
        assert f"'spark.sql.shuffle.partitions' is defined by both '{one}'" in shown
        assert f"and '{other}'" in shown
    assert len(found) == 4
