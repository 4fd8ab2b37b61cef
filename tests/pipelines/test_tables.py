"""The execution: contents of tables, and the effects of failures (SDP-4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from lakeward.errors import ConfigurationError
from lakeward.pipelines import Update
from tests.pipelines.conftest import Lab, result

MEDALLION = """
    from pyspark import pipelines as dp
    from pyspark.sql import functions as F
    @dp.materialized_view(comment="It's gold", table_properties={"quality": "gold"}, cluster_by=["k"])
    def gold(): return spark.sql("SELECT k, count(*) AS n, sum(id) AS total FROM silver GROUP BY k")
    @dp.table(partition_cols=["k"])
    def silver(): return spark.readStream.table("bronze").withColumn("k", F.col("id") % 3)
    @dp.table
    def bronze(): return spark.readStream.table("SRC.raw")
"""


def oracle(ids: range) -> list[tuple[int, int, int]]:
    groups = {k: [i for i in ids if i % 3 == k] for k in range(3)}
    return [(k, len(members), sum(members)) for k, members in groups.items()]


Versions = tuple[int, ...]
Rows = dict[str, list[tuple[Any, ...]]]


@dataclass
class Medallion:
    """What a series of updates of one pipeline did; every test looks at one of them."""

    lab: Lab
    updates: dict[str, Update] = field(default_factory=dict)
    versions: dict[str, Versions] = field(default_factory=dict)
    rows: dict[str, Rows] = field(default_factory=dict)

    def update(self, name: str, *, read: Sequence[str] = (), **options: Any) -> None:
        self.updates[name] = self.lab.done(**options)
        self.rows[name] = {table: self.lab.rows(table) for table in read}

    def keep_versions(self, name: str) -> None:
        self.versions[name] = tuple(self.lab.version(table) for table in TABLES)

    def rows_written(self, name: str) -> list[int | None]:
        return [each.rows_written for each in self.updates[name].datasets]


TABLES = ("bronze", "silver", "gold")


@pytest.fixture(scope="module")
def medallion(module_lab: Callable[[], Lab]) -> Medallion:
    """Ten rows, nothing new, fifteen rows, three for bronze alone, full refreshes, and a dropped table."""
    made = Medallion(lab := module_lab())
    lab.file("a.py", MEDALLION)
    lab.seed("raw", "SELECT id FROM range(10)")
    made.update("first", read=["gold"])
    made.keep_versions("first")
    made.update("nothing new")
    made.keep_versions("nothing new")
    lab.seed("raw", "SELECT id FROM range(10, 25)")
    made.update("new rows", read=["gold"])
    lab.seed("raw", "SELECT id FROM range(25, 28)")
    made.update("bronze alone", read=["gold"], refresh=["BRONZE"])
    made.update("the rest", read=TABLES)
    made.update("full refresh of silver", read=TABLES, full_refresh=["silver"])
    made.update("full refresh", read=TABLES, full_refresh_all=True)
    made.update("after the full refresh")
    lab.spark.sql(f"DROP TABLE main.{lab.schema}.bronze")
    made.update("dropped", refresh=["bronze"])
    return made


def test_new_rows_flow_to_gold_and_nothing_new_writes_nothing(medallion: Medallion) -> None:
    first = medallion.updates["first"]
    assert [(each.name, each.kind, each.rows_written) for each in first.datasets] == [
        ("gold", "materialized_view", 3),
        ("silver", "streaming_table", 10),
        ("bronze", "streaming_table", 10),
    ]
    assert medallion.rows["first"]["gold"] == oracle(range(10))
    assert medallion.rows_written("nothing new") == [0, 0, 0]
    assert medallion.versions["nothing new"] == medallion.versions["first"]
    assert medallion.rows_written("new rows") == [3, 15, 15]
    assert medallion.rows["new rows"]["gold"] == oracle(range(25))


def test_tables_are_made_as_declared(medallion: Medallion) -> None:
    lab = medallion.lab
    gold = lab.spark.sql(f"DESCRIBE DETAIL main.{lab.schema}.gold").collect()[0]
    assert (gold.description, gold.properties["quality"], gold.clusteringColumns) == (
        "It's gold",
        "gold",
        ["k"],
    )
    assert lab.spark.sql(f"DESCRIBE DETAIL main.{lab.schema}.silver").collect()[0].partitionColumns == ["k"]


def test_a_failure_skips_what_depends_on_it_and_nothing_else(lab: Lab) -> None:
    lab.file("a.py", """
        import dlt
        @dlt.table
        def broken(): return spark.range(3).selectExpr("if(id < 2, id, raise_error('too big')) AS id")
        @dlt.view
        def between(): return dlt.read("broken")
        @dlt.table
        def dependant(): return dlt.read("between")
        @dlt.table
        def independent(): return spark.range(3)
    """)  # fmt: skip
    update = lab.run()
    assert update.state == "FAILED"
    assert {each.name: each.state for each in update.datasets} == {
        "broken": "FAILED", "between": "COMPLETED", "dependant": "SKIPPED", "independent": "COMPLETED"
    }  # fmt: skip
    assert "too big" in str(result(update, "broken").error)
    assert lab.tables() == {"independent"}


def test_a_failing_view_keeps_its_old_rows(lab: Lab) -> None:
    lab.file("a.py", "import dlt\n@dlt.table\ndef t(): return spark.range(3)\n")
    lab.done()
    lab.file(
        "a.py",
        "import dlt\n@dlt.table\ndef t(): return spark.range(3).selectExpr('raise_error(\"no\") AS id')\n",
    )
    assert lab.run().state == "FAILED"
    assert lab.rows("t") == [(0,), (1,), (2,)]


@pytest.mark.slow
def test_several_flows_append_to_one_table(lab: Lab) -> None:
    lab.seed("a", "SELECT 1 id")
    lab.seed("b", "SELECT 2 id, 'new' AS extra")
    lab.file("a.py", """
        from pyspark import pipelines as dp
        dp.create_streaming_table("both", comment="c")
        for name in ["a", "b"]:
            @dp.append_flow(target="both", name=f"from_{name}")
            def flow(name=name): return spark.readStream.table(f"SRC.{name}")
    """)  # fmt: skip
    assert result(lab.done(), "both").rows_written == 2
    assert lab.rows("both", "id, extra") == [(1, None), (2, "new")]
    lab.seed("b", "SELECT 3 id, 'newer' AS extra")
    assert result(lab.done(), "both").rows_written == 1


def test_a_once_flow_runs_once_until_a_full_refresh(lab: Lab) -> None:
    lab.seed("a", "SELECT 1 id")
    lab.file("a.py", """
        from pyspark import pipelines as dp
        dp.create_streaming_table("t", expect_all={"odd": "id % 2 = 1"})
        @dp.append_flow(target="t", once=True)
        def history(): return spark.range(10, 13)
        @dp.append_flow(target="t")
        def live(): return spark.readStream.table("SRC.a")
    """)  # fmt: skip
    first = result(lab.done(), "t")
    assert (first.rows_written, first.expectations[0].passed, first.expectations[0].failed) == (4, 2, 2)
    assert result(lab.done(), "t").rows_written == 0
    assert result(lab.done(full_refresh=["t"]), "t").rows_written == 4
    assert lab.rows("t") == [(1,), (10,), (11,), (12,)]


@pytest.mark.slow
def test_streaming_aggregation_without_watermark_is_replaced_as_a_whole(lab: Lab) -> None:
    lab.seed("raw", "SELECT id % 2 AS k FROM range(5)")
    lab.file("a.py", """
        import dlt
        @dlt.table
        @dlt.expect_or_drop("not zero", "k <> 0")
        def counts(): return spark.readStream.table("SRC.raw").groupBy("k").count()
    """)  # fmt: skip
    lab.done()
    assert lab.rows("counts") == [(1, 2)]
    lab.seed("raw", "SELECT 1L AS k")
    done = result(lab.done(), "counts")
    assert lab.rows("counts") == [(1, 3)] and (done.dropped, done.rows_written) == (1, 1)


def test_columns_that_come_and_go(lab: Lab) -> None:
    """A new column is added to a streaming table, a removed one stays as NULL; a view is replaced."""
    lab.seed("raw", "SELECT 1 id")
    text = """
        import dlt
        @dlt.table
        def stream(): return spark.readStream.table("SRC.raw").selectExpr({0})
        @dlt.table
        def whole(): return spark.read.table("stream").selectExpr({0})
    """
    lab.file("a.py", text.format("'id', '1 AS old'"))
    lab.done()
    lab.seed("raw", "SELECT 2 id")
    lab.file("a.py", text.format("'id', '2 AS new'"))
    lab.done()
    assert lab.rows("stream", "id, old, new") == [(1, 1, None), (2, None, 2)]
    assert lab.spark.table(f"main.{lab.schema}.whole").columns == ["id", "new"]


def test_a_declared_schema_orders_widens_and_comments(lab: Lab) -> None:
    lab.seed("raw", "SELECT 1 AS b, 'x' AS a")
    lab.file("a.py", """
        import dlt
        @dlt.table(schema="a STRING COMMENT 'first', b BIGINT, c DATE")
        def stream(): return spark.readStream.table("SRC.raw")
        @dlt.table(schema="a STRING COMMENT 'first', b BIGINT, c DATE")
        def whole(): return spark.read.table("SRC.raw")
    """)  # fmt: skip
    lab.done()
    for table in ("stream", "whole"):
        schema = lab.spark.table(f"main.{lab.schema}.{table}").schema
        assert schema.simpleString() == "struct<a:string,b:bigint,c:date>"
        assert schema["a"].metadata == {"comment": "first"}
        assert lab.rows(table) == [("x", 1, None)]


def test_only_what_is_named_is_refreshed(medallion: Medallion) -> None:
    datasets = medallion.updates["bronze alone"].datasets
    assert {each.name: (each.state, each.rows_written) for each in datasets} == {
        "bronze": ("COMPLETED", 3), "silver": ("EXCLUDED", None), "gold": ("EXCLUDED", None)
    }  # fmt: skip
    assert medallion.rows["bronze alone"]["gold"] == oracle(range(25))


@pytest.mark.parametrize("view", ["VIEW", "TEMPORARY VIEW"])
def test_a_view_that_only_views_read_has_run_with_them(lab: Lab, view: str) -> None:
    """A view is EXCLUDED only when none of the tables behind it is refreshed."""
    lab.file("a.sql", f"""
        CREATE MATERIALIZED VIEW source AS SELECT id FROM range(3);
        CREATE {view} inner_view AS SELECT * FROM source;
        CREATE {view} middle_view AS SELECT * FROM inner_view;
        CREATE {view} outer_view AS SELECT * FROM middle_view;
        CREATE {view} of_table AS SELECT * FROM source;
        CREATE MATERIALIZED VIEW target AS SELECT * FROM of_table;
    """)  # fmt: skip
    states = {each.name: each.state for each in lab.done().datasets}
    assert set(states.values()) == {"COMPLETED"}, states
    states = {each.name: each.state for each in lab.done(refresh={"source"}).datasets}
    assert (states["of_table"], states["inner_view"]) == ("EXCLUDED", "COMPLETED")


def test_a_full_refresh_equals_the_incremental_table(medallion: Medallion) -> None:
    """INV-16, on every table at once and on one alone."""
    assert medallion.rows["the rest"]["gold"] == oracle(range(28))
    assert result(medallion.updates["full refresh of silver"], "silver").rows_written == 28
    assert medallion.rows_written("full refresh") == [3, 28, 28]
    for name in ("full refresh of silver", "full refresh"):
        assert medallion.rows[name] == medallion.rows["the rest"]
    assert medallion.rows_written("after the full refresh") == [0, 0, 0]


def test_reset_allowed_false_survives_a_full_refresh(lab: Lab) -> None:
    lab.seed("raw", "SELECT 1 id")
    lab.file("a.py", """
        import dlt
        @dlt.table(table_properties={"pipelines.reset.allowed": False})
        def kept(): return spark.readStream.table("SRC.raw")
    """)  # fmt: skip
    lab.done()
    assert result(lab.done(full_refresh_all=True), "kept").rows_written == 0
    with pytest.raises(ConfigurationError, match="TABLE_NOT_RESETTABLE"):
        lab.run(full_refresh=["kept"])


def test_a_dropped_table_is_rebuilt(medallion: Medallion) -> None:
    assert result(medallion.updates["dropped"], "bronze").rows_written == 28


def test_temporary_views_are_gone_afterwards(lab: Lab) -> None:
    lab.file("a.py", """
        import dlt
        @dlt.view
        def passing(): return spark.range(2)
        @dlt.table
        def t(): return spark.sql("SELECT * FROM passing WHERE id IN (SELECT id FROM passing)")
    """)  # fmt: skip
    lab.done()
    assert lab.rows("t") == [(0,), (1,)] and not lab.spark.catalog.tableExists("passing")


def test_python_functions_of_sibling_modules_reach_the_workers(lab: Lab) -> None:
    lab.file("helpers/__init__.py", "def twice(x): return 2 * x\n")
    lab.file("a.py", """
        import dlt
        from helpers import twice
        from pyspark.sql.functions import udf
        @dlt.table
        def t(): return spark.range(3).select(udf(twice, "bigint")("id").alias("x"))
    """)  # fmt: skip
    lab.done()
    assert lab.rows("t") == [(0,), (2,), (4,)]


def test_configuration_reaches_the_files_and_ends_with_the_run(lab: Lab) -> None:
    lab.file("a.py", """
        import dlt
        @dlt.table(spark_conf={"my.flow": "f"})
        def t(): return spark.range(1).selectExpr("'{}{}' x".format(
            *map(spark.conf.get, ["my.key", "my.flow"])))
    """)  # fmt: skip
    lab.done(configuration={"my.key": "v"})
    assert lab.rows("t") == [("vf",)] and lab.spark.conf.get("my.key", None) is None


def test_a_pipeline_has_settings_of_its_own(lab: Lab) -> None:
    lab.file("a.py", """
        import dlt
        keys = ["pipelines.id", "pipelines.catalog", "pipelines.schema", "pipelines.target"]
        top = "|".join(map(spark.conf.get, keys))
        @dlt.table
        def t(): return spark.sql(f"SELECT '{top}' top, '{'|'.join(map(spark.conf.get, keys))}' inside")
    """)  # fmt: skip
    lab.file("b.sql", "CREATE MATERIALIZED VIEW s AS SELECT '${pipelines.id}|${pipelines.target}' AS x;")
    before = lab.spark.conf.get("pipelines.id", None)
    lab.done()
    shown = f"{lab.schema}|main|{lab.schema}|{lab.schema}"
    assert lab.rows("t") == [(shown, shown)]
    assert lab.rows("s") == [(f"{lab.schema}|{lab.schema}",)]
    assert lab.spark.conf.get("pipelines.id", None) == before
    lab.done(configuration={"pipelines.schema": "mine"})
    assert lab.rows("t")[0][0].split("|")[2:] == ["mine", lab.schema]


def test_datasets_of_other_schemas(lab: Lab) -> None:
    lab.file("a.py", f"""
        import dlt
        @dlt.table(name="{lab.schema}_b.t")
        def elsewhere(): return spark.range(2)
        @dlt.table
        def t(): return spark.read.table("{lab.schema}_b.T").union(dlt.read("main.{lab.schema}_b.t"))
    """)  # fmt: skip
    assert {each.name for each in lab.done().datasets} == {"t", f"{lab.schema}_b.t"}
    assert len(lab.rows("t")) == 4


@pytest.mark.slow
def test_a_table_lives_in_the_folder_that_it_names(lab: Lab) -> None:
    lab.seed("raw", "SELECT 1 id")
    stream, view, taken = (lab.folder / name for name in ("stream", "view", "taken"))
    lab.spark.range(3).write.format("delta").save(str(taken))
    source = lab.file("a.py", f"""
        import dlt
        @dlt.table(path="{stream}")
        def bronze(): return spark.readStream.table("SRC.raw")
        @dlt.table(path="{view}")
        def silver(): return dlt.read("bronze")
    """)  # fmt: skip
    lab.done()
    lab.done(full_refresh_all=True)
    for name, folder in (("bronze", stream), ("silver", view)):
        there = lab.spark.read.format("delta").load(str(folder))
        assert lab.rows(name) == [tuple(row) for row in there.collect()] == [(1,)]
    source.write_text(source.read_text().replace(f"{view}", f"{taken}").replace("silver", "golden"))
    assert "TABLE_ALREADY_MANAGED" in str(lab.run().error)
    assert lab.spark.read.format("delta").load(str(taken)).count() == 3
