"""Which technique refreshes a view, why, and what it leaves when an update is killed or input is bad."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from lakeward.pipelines.incremental import technique_choice, view_refresh, view_writes
from lakeward.pipelines.storage.delta_tables import load_table
from lakeward.pipelines.writers import materialized_view
from lakeward.session.jvm import interrupts
from lakeward.spark_internals import jvm_view
from tests.lanes import sampled
from tests.pipelines.conftest import LIMITS, Lab, alter_dataset, replace_rows, result
from tests.pipelines.incremental import planned, sql_views

MERGED = """MERGE INTO {a} t USING (SELECT id, id * 5 AS v FROM range(7, 12)) s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, g, v) VALUES (s.id, 1, s.v)"""
QUERY = "SELECT g, count(*) AS n, sum(v) AS s FROM {a} GROUP BY g"


@pytest.fixture
def table(lab: Lab) -> str:
    lab.seed("a", "SELECT id, id % 3 AS g, id * 2 AS v FROM range(9)")
    return f"main.{lab.source}.a"


def declare(lab: Lab, *queries: str, policy: str = "INCREMENTAL") -> None:
    views = {f"v{i}": query.format(a=f"main.{lab.source}.a") for i, query in enumerate(queries)}
    lab.file("views.sql", sql_views(views, policy=policy))


def assert_exact(lab: Lab, query: str = QUERY, name: str = "v0") -> None:
    wanted = lab.spark.sql(query.format(a=f"main.{lab.source}.a"))
    assert Counter(map(repr, lab.table(name).collect())) == Counter(map(repr, wanted.collect()))


def folder_of(lab: Lab, table: str) -> Path:
    return Path(lab.spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["location"].removeprefix("file:"))


def remove_files(lab: Lab, table: str) -> None:
    """Remove the files that no version in use needs, as VACUUM does."""
    kept = {Path(name.removeprefix("file://")).name for name in lab.spark.table(table).inputFiles()}
    for file in folder_of(lab, table).glob("*.parquet"):
        if file.name not in kept:
            file.unlink()


def replace(lab: Lab, table: str) -> None:
    lab.spark.sql(f"CREATE OR REPLACE TABLE {table} AS SELECT id, 1L AS g, 1L AS v FROM range(2)")


def recreate(lab: Lab, table: str) -> None:
    lab.spark.sql(f"DROP TABLE {table}")
    lab.seed("a", "SELECT id, 5L AS g, 1L AS v FROM range(2)")
    lab.seed("a", "SELECT id, 6L AS g, 1L AS v FROM range(2)")


def vacuum(lab: Lab, table: str) -> None:
    lab.spark.sql(f"DELETE FROM {table} WHERE id = 1")
    remove_files(lab, table)


def expire_log(lab: Lab, table: str) -> None:
    """Remove the commits that the view has seen, as Delta's clean-up behind a checkpoint does."""
    lab.spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.checkpointInterval' = '1')")
    lab.seed("a", "SELECT 20L AS id, 1L AS g, 1L AS v")
    log = folder_of(lab, table) / "_delta_log"
    newest = max(log.glob("*.checkpoint*.parquet")).name[:20]
    for commit in log.glob("*.json"):
        if commit.name[:20] < newest:
            commit.unlink()
    jvm_view(lab.spark).org.apache.spark.sql.delta.DeltaLog.clearCache()


def rename(lab: Lab, table: str) -> None:
    mapping = "'delta.columnMapping.mode' = 'name'"
    lab.spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({mapping})")


def replace_commit(lab: Lab, table: str) -> None:
    """Lose the newest commit that the view has seen, as a restored backup does, and write another one."""
    lab.spark.sql(f"INSERT INTO {table} VALUES (20, 1, 1)")
    lab.done()
    log = folder_of(lab, table) / "_delta_log"
    lost = max(log.glob("*.json")).name
    for file in (
        *log.glob(lost.replace(".json", ".*")),
        *log.glob(f".{lost}*"),
        *log.glob(f".{lost[:20]}.crc*"),
    ):
        file.unlink()
    jvm_view(lab.spark).org.apache.spark.sql.delta.DeltaLog.clearCache()
    lab.spark.catalog.refreshTable(table)
    lab.spark.sql(f"INSERT INTO {table} VALUES (21, 2, 5)")
    lab.spark.sql(f"INSERT INTO {table} VALUES (22, 2, 5)")


def move_away(lab: Lab, table: str) -> None:
    lab.spark.sql(f"ALTER TABLE {table} RENAME TO {table}_old")
    lab.spark.sql(f"CREATE TABLE {table} AS SELECT id, 2L AS g, v FROM {table}_old")


def track_rows(lab: Lab, table: str) -> None:
    """Add every file again, with an identifier of its first row, and delete a row."""
    lab.spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')")
    lab.spark.sql(f"DELETE FROM {table} WHERE id = 1")


def drop_vectors(lab: Lab, table: str) -> None:
    lab.spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    lab.spark.sql(f"DELETE FROM {table} WHERE id = 1")
    lab.done()
    lab.spark.sql(f"ALTER TABLE {table} DROP FEATURE deletionVectors")


def add_column(lab: Lab, table: str) -> None:
    lab.spark.sql(f"ALTER TABLE {table} ADD COLUMN extra STRING")
    lab.spark.sql(f"INSERT INTO {table} VALUES (30, 1, 1, 'new')")


def statement(text: str) -> Callable[[Lab, str], None]:
    def run(lab: Lab, table: str) -> None:
        lab.spark.sql(text.format(a=table))

    return run


CHANGES: dict[str, tuple[Callable[[Lab, str], None], str, str]] = {
    "appended": (statement("INSERT INTO {a} VALUES (20, 1, 1)"), "GROUP_AGGREGATE", ""),
    "updated": (statement("UPDATE {a} SET v = 0 WHERE id = 1"), "GROUP_AGGREGATE", ""),
    "deleted": (statement("DELETE FROM {a} WHERE g = 2"), "GROUP_AGGREGATE", ""),
    "overwritten": (statement("INSERT OVERWRITE {a} VALUES (1, 1, 7)"), "GROUP_AGGREGATE", ""),
    "optimized": (statement("OPTIMIZE {a}"), "NO_OP", ""),
    "a new column": (add_column, "GROUP_AGGREGATE", ""),
    "replaced": (replace, "COMPLETE_RECOMPUTE", "DATA_HAS_CHANGED"),
    "dropped and created again": (recreate, "COMPLETE_RECOMPUTE", "DATA_HAS_CHANGED"),
    "vacuumed": (vacuum, "COMPLETE_RECOMPUTE", "DATA_FILE_MISSING"),
    "merged": (statement(MERGED), "GROUP_AGGREGATE", ""),
    "row tracking": (track_rows, "GROUP_AGGREGATE", ""),
    "dropped deletion vectors": (drop_vectors, "NO_OP", ""),
    "an expired log": (expire_log, "COMPLETE_RECOMPUTE", "DATA_HAS_CHANGED"),
    "another commit of the same version": (replace_commit, "COMPLETE_RECOMPUTE", "DATA_HAS_CHANGED"),
    "renamed, with another table in its place": (move_away, "COMPLETE_RECOMPUTE", "DATA_HAS_CHANGED"),
    "column mapping": (rename, "COMPLETE_RECOMPUTE", "DATA_SCHEMA_CHANGED"),
}


# One of each technique and of each reason.
_KEPT = ("deleted", "overwritten", "vacuumed", "row tracking", "dropped deletion vectors", "column mapping")


@pytest.mark.parametrize("change", sampled(CHANGES, *_KEPT))
def test_a_changed_source_has_its_technique_and_reason(lab: Lab, table: str, change: str) -> None:
    declare(lab, QUERY)
    lab.done()
    apply, technique, issue = CHANGES[change]
    apply(lab, table)
    plan = planned(lab, lab.done())["v0"]
    assert (plan.chosen, [each["issue_type"] for each in plan.issues]) == (
        technique,
        [issue] if issue else [],
    )
    assert_exact(lab)


WIDER = [("unused", "GROUP_AGGREGATE", ""), ("v", "COMPLETE_RECOMPUTE", "QUERY_FINGERPRINT_CHANGED")]


@pytest.mark.parametrize(
    ("column", "technique", "issue"),
    sampled(WIDER, WIDER[0]),
)
def test_a_wider_type_matters_where_the_view_uses_the_column(
    lab: Lab, column: str, technique: str, issue: str
) -> None:
    lab.seed("a", "SELECT id % 2 AS g, CAST(id AS INT) AS v, CAST(id AS INT) AS unused FROM range(4)")
    source = f"main.{lab.source}.a"
    declare(lab, QUERY)
    lab.done()
    lab.spark.sql(f"ALTER TABLE {source} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')")
    lab.spark.sql(f"ALTER TABLE {source} ALTER COLUMN {column} TYPE BIGINT")
    lab.spark.sql(f"INSERT INTO {source} VALUES (1, {2**40 if column == 'v' else 1}, {2**31 - 1})")
    plan = planned(lab, lab.done())["v0"]
    assert (plan.chosen, [each["issue_type"] for each in plan.issues]) == (
        technique,
        [issue] if issue else [],
    )
    assert_exact(lab)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "technique", "issue"),
    [("unused", "GROUP_AGGREGATE", ""), ("v", "COMPLETE_RECOMPUTE", "DATA_SCHEMA_CHANGED")],
)
def test_a_renamed_column_matters_where_the_view_uses_it(
    lab: Lab, column: str, technique: str, issue: str
) -> None:
    source = f"main.{lab.source}.a"
    lab.spark.sql(
        f"CREATE TABLE {source} TBLPROPERTIES ('delta.columnMapping.mode' = 'name') AS "
        "SELECT id, id % 3 AS g, id * 2 AS v, 1 AS unused FROM range(9)"
    )
    declare(lab, QUERY)
    lab.done()
    lab.spark.sql(f"ALTER TABLE {source} RENAME COLUMN {column} TO other")
    if column == "v":
        lab.spark.sql(f"ALTER TABLE {source} ADD COLUMN v BIGINT")
    values = "(g, v)" if column == "unused" else "(g, other, v)"
    row = "(1, 5)" if column == "unused" else "(1, 7, 5)"
    lab.spark.sql(f"INSERT INTO {source} {values} VALUES {row}")
    plan = planned(lab, lab.done())["v0"]
    assert (plan.chosen, [each["issue_type"] for each in plan.issues]) == (
        technique,
        [issue] if issue else [],
    )
    assert_exact(lab)


def test_a_dropped_source_fails_the_view_and_keeps_its_rows(lab: Lab, table: str) -> None:
    declare(lab, QUERY)
    lab.done()
    before = lab.rows("v0")
    lab.spark.sql(f"DROP TABLE {table}")
    update = lab.run()
    assert update.state == "FAILED" and "TABLE_OR_VIEW_NOT_FOUND" in str(update.error)
    assert lab.rows("v0") == before


@pytest.mark.slow
def test_a_view_of_a_table_and_of_an_older_version_of_it_takes_the_changes_of_each(
    lab: Lab, table: str
) -> None:
    queries = [
        "SELECT x.id, y.v FROM {a} VERSION AS OF 0 AS x JOIN {a} AS y ON x.id = y.id",
        "SELECT x.id, y.v FROM {a} AS y JOIN {a} VERSION AS OF 0 AS x ON x.id = y.id",
        "SELECT id, v FROM {a} VERSION AS OF 0",
    ]
    declare(lab, *queries)
    lab.done()
    for value in (100, 101):
        lab.spark.sql(f"INSERT INTO {table} VALUES (1, 1, {value}), (50, 1, 1)")
        plans = planned(lab, lab.done())
        assert [plans[f"v{i}"].chosen for i in range(3)] == ["APPEND_ONLY", "APPEND_ONLY", "NO_OP"]
        for i, query in enumerate(queries):
            assert_exact(lab, query, f"v{i}")


def test_a_function_that_is_not_deterministic_is_recomputed_with_its_name(lab: Lab, table: str) -> None:
    declare(lab, "SELECT id, rand() AS r FROM {a}", "SELECT id, current_date() AS d FROM {a}", policy="AUTO")
    lab.done()
    lab.spark.sql(f"INSERT INTO {table} VALUES (20, 1, 1)")
    plans = planned(lab, lab.done())
    for name, expression in (("v0", "rand"), ("v1", "current_date")):
        (issue,) = plans[name].issues
        assert plans[name].chosen == "COMPLETE_RECOMPUTE"
        assert (issue["issue_type"], issue["expression_name"]) == ("PLAN_NOT_DETERMINISTIC", expression)
        assert lab.table(name).count() == 10


def test_the_size_of_a_version_without_a_checksum_is_that_of_its_files(lab: Lab, table: str) -> None:
    sizes = []
    for _ in range(2):
        stored = load_table(lab.spark, ("main", lab.source, "a"))
        assert stored is not None
        sizes.append(stored.size)
        for file in (folder_of(lab, table) / "_delta_log").glob("*.crc"):
            file.unlink()
        jvm_view(lab.spark).org.apache.spark.sql.delta.DeltaLog.clearCache()
    files = {Path(name.removeprefix("file:")) for name in lab.spark.table(table).inputFiles()}
    assert sizes == [sum(file.stat().st_size for file in files)] * 2


@pytest.mark.slow
def test_a_change_that_leaves_the_rows_as_they_are_is_seen_once(lab: Lab, table: str) -> None:
    declare(
        lab,
        "SELECT id, v >= 0 AS positive FROM {a}",
        "SELECT id, hi FROM {a}, (SELECT max(v) AS hi FROM {a})",
    )
    lab.done()
    lab.spark.sql(f"UPDATE {table} SET v = v + 1 WHERE id = 3")
    update = lab.done()
    assert {plan.chosen for plan in planned(lab, update).values()} == {"ROW_BASED"}
    assert result(update, "v0").rows_written == 0
    assert {plan.chosen for plan in planned(lab, lab.done()).values()} == {"NO_OP"}


@pytest.mark.slow
def test_single_rows_and_totals_are_replaced_and_ties_are_broken_by_the_other_columns(lab: Lab) -> None:
    first = "SELECT id, g, v, row_number() OVER (PARTITION BY id ORDER BY v) AS r FROM {a}"
    queries = {
        "SELECT id, v FROM {a}": "",
        "SELECT id, hi FROM {a}, (SELECT max(v) AS hi FROM {a})": "",
        f"SELECT g FROM ({first}) WHERE r = 1": "SELECT min(struct(v, g)).g AS g FROM {a} GROUP BY id",
    }
    # Spark keeps the first of equal rows in a file.
    lab.seed("a", "SELECT id % 5 AS id, 10 - id AS g, 1L AS v FROM range(0, 10, 1, 1)")
    declare(lab, *queries)
    lab.done()
    for statement in ("", "UPDATE {a} SET v = 7, g = 3 WHERE id = 1", "DELETE FROM {a} WHERE v = 7"):
        if statement:
            lab.spark.sql(statement.format(a=f"main.{lab.source}.a"))
            assert {plan.chosen for plan in planned(lab, lab.done()).values()} == {"ROW_BASED"}
        for i, query in enumerate(queries):
            assert_exact(lab, queries[query] or query, f"v{i}")


def noon(day: int) -> Callable[[], float]:
    return datetime(2024, 1, day, 12, tzinfo=timezone.utc).timestamp


@pytest.mark.slow
def test_filters_by_date_follow_the_clock_though_no_source_changes(lab: Lab, table: str) -> None:
    query = f"SELECT id FROM {table} WHERE date_add(DATE'2024-01-01', CAST(id AS INT)) > "
    times = ("current_date()", "CAST(current_timestamp() AS DATE)", "CAST(now() AS DATE)")
    views = {f"v{i}": query + each for i, each in enumerate(times)}
    lab.file("views.sql", sql_views(views, policy="INCREMENTAL"))

    def refresh(day: int, technique: str, ids: list[int]) -> None:
        plans = planned(lab, lab.done(now=noon(day)))
        assert {name: plan.chosen for name, plan in plans.items()} == dict.fromkeys(views, technique)
        assert all(sorted(row.id for row in lab.table(name).collect()) == ids for name in views)

    refresh(2, "COMPLETE_RECOMPUTE", [2, 3, 4, 5, 6, 7, 8])
    refresh(2, "NO_OP", [2, 3, 4, 5, 6, 7, 8])
    lab.spark.sql(f"INSERT INTO {table} VALUES (50, 1, 1), (0, 1, 1)")
    refresh(2, "APPEND_ONLY", [2, 3, 4, 5, 6, 7, 8, 50])
    refresh(5, "ROW_BASED", [5, 6, 7, 8, 50])
    # A clock that is set back.
    refresh(4, "ROW_BASED", [4, 5, 6, 7, 8, 50])


PYTHON = """
from pyspark import pipelines as dp
from pyspark.sql import functions as F
twice = F.udf(lambda v: v * 2, "bigint"){mark}
@dp.materialized_view
def v0():
    # {comment}
    return spark.table("SRC.a").select("id", twice("v").alias("v"))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mark", "technique", "issues"),
    [
        ("", "APPEND_ONLY", []),
        (".asNondeterministic()", "COMPLETE_RECOMPUTE", ["USER_DEFINED_FUNCTION"]),
    ],
)
def test_a_deterministic_udf_is_incremental_until_its_code_changes(
    lab: Lab, table: str, mark: str, technique: str, issues: list[str]
) -> None:
    lab.file("views.py", PYTHON.format(mark=mark, comment="a"))
    lab.done()
    lab.spark.sql(f"INSERT INTO {table} VALUES (20, 1, 1)")
    plan = planned(lab, lab.done())["v0"]
    assert plan.chosen == technique
    assert [each["plan_not_deterministic_sub_type"] for each in plan.issues] == issues
    assert_exact(lab, "SELECT id, v * 2 AS v FROM {a}")
    lab.file("views.py", PYTHON.format(mark=mark, comment="a").replace("v * 2", "v * 3"))
    assert planned(lab, lab.done())["v0"].chosen == "COMPLETE_RECOMPUTE"
    assert_exact(lab, "SELECT id, v * 3 AS v FROM {a}")


def test_a_comment_in_the_query_changes_nothing_and_another_literal_does(lab: Lab, table: str) -> None:
    declare(lab, "SELECT id, '#12' AS t FROM {a} -- first")
    lab.done()
    declare(lab, "SELECT id, '#12' AS t FROM {a} -- second")
    lab.file("other.py", "x = 1\n")
    update = lab.done()
    assert planned(lab, update)["v0"].chosen == "NO_OP" and result(update, "v0").rows_written == 0
    declare(lab, "SELECT id, '#13' AS t FROM {a} -- second")
    plan = planned(lab, lab.done())["v0"]
    assert (plan.chosen, plan.issues[0]["issue_type"]) == ("COMPLETE_RECOMPUTE", "QUERY_FINGERPRINT_CHANGED")
    assert_exact(lab, "SELECT id, '#13' AS t FROM {a}")


@pytest.mark.slow
def test_another_declaration_computes_the_view_again_and_is_applied(lab: Lab, table: str) -> None:
    declare(lab, QUERY)
    lab.done()
    text = (lab.files / "views.sql").read_text()
    for clause in ("COMMENT 'by group'", "TBLPROPERTIES ('team' = 'a')", "PARTITIONED BY (g)"):
        text = text.replace(" REFRESH POLICY", f" {clause} REFRESH POLICY")
        lab.file("views.sql", text)
        plan = planned(lab, lab.done())["v0"]
        found = [each["issue_type"] for each in plan.issues]
        assert (plan.chosen, found) == ("COMPLETE_RECOMPUTE", ["QUERY_FINGERPRINT_CHANGED"]), clause
        assert "declaration changed" in plan.message
    lab.spark.sql(f"INSERT INTO {table} VALUES (20, 1, 1)")
    assert planned(lab, lab.done())["v0"].chosen != "COMPLETE_RECOMPUTE"
    view = load_table(lab.spark, ("main", lab.schema, "v0"))
    assert view is not None and (view.comment, view.partition_cols) == ("by group", ("g",))
    assert view.properties["team"] == "a"
    assert_exact(lab)


def test_a_view_over_a_view_takes_the_changes_of_that_view(lab: Lab, table: str) -> None:
    views = {
        "one": f"SELECT g, sum(v) AS s FROM {table} GROUP BY g",
        "two": "SELECT g, s * 10 AS t FROM one WHERE s > 0",
        "three": "SELECT t, count(*) AS n FROM two GROUP BY t",
    }
    lab.file("views.sql", sql_views(views, policy="INCREMENTAL"))
    lab.done()
    lab.spark.sql(f"INSERT INTO {table} VALUES (20, 1, 100), (21, 8, 5)")
    plans = planned(lab, lab.done())
    assert [plans[name].chosen for name in ("one", "two", "three")] == [
        "GROUP_AGGREGATE",
        "ROW_BASED",
        "GROUP_AGGREGATE",
    ]
    (source,) = plans["two"].details["source_table_information"]
    assert source["table_change_type"] == "TABLE_CHANGE_TYPE_GENERAL_CHANGE"
    query = "SELECT sum(v) * 10 AS t, 1L AS n FROM {a} GROUP BY g"
    assert_exact(lab, f"SELECT t, sum(n) AS n FROM ({query}) GROUP BY t", "three")
    # A full refresh of the upstream view replaces its table.
    plans = planned(lab, lab.done(full_refresh=["one"]))
    assert plans["one"].chosen == "COMPLETE_RECOMPUTE"
    plans = planned(lab, lab.done())
    assert plans["two"].issues[0]["issue_type"] == "DATA_HAS_CHANGED"


CHAIN = """
CREATE MATERIALIZED VIEW low PARTITIONED BY (g) {comment} AS SELECT id, g, v, rand() < 2 AS r FROM {a};
CREATE MATERIALIZED VIEW high REFRESH POLICY INCREMENTAL AS SELECT g, sum(v) AS s FROM low GROUP BY g;
"""


@pytest.mark.slow
def test_a_view_over_a_recomputed_view_takes_its_changes(lab: Lab, table: str) -> None:
    def techniques(**options: Any) -> dict[str, str]:
        update = lab.done(configuration={"spark.sql.sources.partitionOverwriteMode": "dynamic"}, **options)
        assert_exact(lab, "SELECT id, g, v, true AS r FROM {a}", "low")
        return {name: plan.chosen for name, plan in planned(lab, update).items()}

    def identity() -> Any:
        return lab.spark.sql(f"DESCRIBE DETAIL main.{lab.schema}.low").collect()[0]["id"]

    query = "SELECT g, sum(v) AS s FROM {a} GROUP BY g"
    lab.file("views.sql", CHAIN.format(a=table, comment=""))
    techniques()
    first, version = identity(), lab.version("low")
    lab.spark.sql(f"DELETE FROM {table} WHERE g = 1")
    assert techniques() == {"low": "COMPLETE_RECOMPUTE", "high": "GROUP_AGGREGATE"}
    assert (identity(), lab.version("low")) == (first, version + 1)
    assert_exact(lab, query, "high")
    for options, comment in (({"full_refresh": ["low"]}, ""), ({}, "COMMENT 'new'")):
        lab.file("views.sql", CHAIN.format(a=table, comment=comment))
        techniques(**options)
        assert identity() != first
        first = identity()
        if options:
            assert techniques() == {"low": "COMPLETE_RECOMPUTE", "high": "COMPLETE_RECOMPUTE"}
    assert_exact(lab, query, "high")


def test_a_column_that_someone_adds_to_a_view_is_gone_after_its_recomputation(lab: Lab, table: str) -> None:
    declare(lab, QUERY, policy="FULL")
    lab.done()
    alter_dataset(lab.spark, f"ALTER TABLE main.{lab.schema}.v0 ADD COLUMN extra STRING")
    lab.spark.sql(f"INSERT INTO {table} VALUES (20, 1, 1)")
    lab.done()
    assert_exact(lab)


@pytest.mark.slow
def test_maintenance_of_a_view_keeps_what_it_has_seen(lab: Lab, table: str) -> None:
    declare(lab, QUERY)
    for group in (1, 2):
        lab.spark.sql(f"INSERT INTO {table} VALUES (20, {group}, 1)")
        lab.done()
    version = lab.version("v0")
    lab.spark.sql(f"OPTIMIZE main.{lab.schema}.v0")
    lab.spark.sql(f"ANALYZE TABLE main.{lab.schema}.v0 COMPUTE STATISTICS FOR ALL COLUMNS")
    lab.spark.sql(f"VACUUM main.{lab.schema}.v0")
    assert lab.version("v0") > version
    assert planned(lab, lab.done())["v0"].chosen == "NO_OP"
    lab.spark.sql(f"INSERT INTO {table} VALUES (20, 1, 1)")
    assert planned(lab, lab.done())["v0"].chosen == "GROUP_AGGREGATE"
    assert_exact(lab)


def lose_feed(lab: Lab, table: str) -> None:
    lab.spark.sql(f"UPDATE {table} SET v = 7 WHERE id = 1")
    shutil.rmtree(folder_of(lab, table) / "_change_data")


def start_feed(lab: Lab, table: str) -> None:
    """Change rows before the feed is on, and after it."""
    for value in ("false", "true"):
        lab.spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = '{value}')")
        lab.spark.sql(f"UPDATE {table} SET v = 7 WHERE id = 1")


@pytest.mark.parametrize(
    ("change", "issues"),
    [
        (statement("UPDATE {a} SET v = v + 1, g = 2 WHERE id = 1"), []),
        pytest.param(start_feed, ["MAP_TYPE_NOT_SUPPORTED"], marks=pytest.mark.slow),
        (lose_feed, ["MAP_TYPE_NOT_SUPPORTED"]),
    ],
    ids=["on", "off in one version", "its files are gone"],
)
def test_the_change_data_feed_gives_changes_that_rows_cannot_be_compared_for(
    lab: Lab, change: Callable[[Lab, str], None], issues: list[str]
) -> None:
    source = f"main.{lab.source}.a"
    lab.spark.sql(
        f"CREATE TABLE {source} TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true') AS "
        "SELECT id, id % 3 AS g, id * 2 AS v, map(id, id) AS m FROM range(9)"
    )
    queries = "SELECT g, count(m) AS n, sum(v) AS s FROM {a} GROUP BY g", "SELECT id, m[id] + v AS v FROM {a}"
    declare(lab, *queries)
    lab.done()
    change(lab, source)
    plans = planned(lab, lab.done())
    techniques = ("COMPLETE_RECOMPUTE",) * 2 if issues else ("GROUP_AGGREGATE", "ROW_BASED")
    for name, technique, query in zip(sorted(plans), techniques, queries, strict=True):
        found = [each["issue_type"] for each in plans[name].issues]
        assert (plans[name].chosen, found) == (technique, issues)
        assert_exact(lab, query, name)


@pytest.mark.slow
def test_affected_partitions_of_a_view_are_replaced_where_that_reads_less(lab: Lab) -> None:
    query = "SELECT g, id, avg(v) AS m FROM {a} GROUP BY g, id"
    lab.seed("a", "SELECT id, id % 3 AS g, id * 2 AS v FROM range(5000)")
    lab.seed("a", "SELECT id, IF(id < 5, 7, NULL) AS g, id AS v FROM range(10)")
    source = f"main.{lab.source}.a"
    lab.file("views.sql", f"CREATE MATERIALIZED VIEW v0 PARTITIONED BY (g) AS {query.format(a=source)}")
    lab.done()
    kept = set(lab.table("v0").where("g < 3").inputFiles())
    for change in (
        "UPDATE {a} SET v = -v WHERE id = 1 AND g IS NULL OR g = 7",
        "DELETE FROM {a} WHERE g = 7",
    ):
        lab.spark.sql(change.format(a=source))
        assert planned(lab, lab.done())["v0"].chosen == "PARTITION_OVERWRITE"
        assert_exact(lab, query)
    assert set(lab.table("v0").inputFiles()) > kept


TWO_GROUPS = ["INSERT INTO {a} VALUES (9, '', 5)", "UPDATE {a} SET v = 9 WHERE t IS NULL"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    sampled(TWO_GROUPS, TWO_GROUPS[1]),
)
def test_an_empty_text_and_null_are_two_groups_of_one_partition(lab: Lab, change: str) -> None:
    query = "SELECT t, max(v) AS hi FROM {a} GROUP BY t"
    lab.seed("a", "SELECT * FROM VALUES (1, '', 1), (2, NULL, 2), (3, 'x', 3) AS a(id, t, v)")
    source = f"main.{lab.source}.a"
    view = f"CREATE MATERIALIZED VIEW v0 PARTITIONED BY (t) REFRESH POLICY INCREMENTAL AS {query}"
    lab.file("views.sql", view.format(a=source))
    lab.done()
    for statement in (change, "UPDATE {a} SET v = 4 WHERE t = 'x'"):
        lab.spark.sql(statement.format(a=source))
        plan = planned(lab, lab.done())["v0"]
        assert_exact(lab, f"SELECT nullif(t, '') AS t, hi FROM ({query})")
    assert plan.chosen == "GROUP_AGGREGATE"


def test_expectations_hold_for_new_rows_and_dropped_rows_leave_without_a_trace(lab: Lab, table: str) -> None:
    lab.file("views.py", """
        from pyspark import pipelines as dp
        @dp.materialized_view(refresh_policy="incremental")
        @dp.expect_or_drop("small", "v < 100")
        def v0(): return spark.table("SRC.a").select("id", "v")
    """)  # fmt: skip
    lab.done()
    lab.spark.sql(f"INSERT INTO {table} VALUES (20, 1, 1), (21, 1, 500)")
    update = lab.done()
    assert planned(lab, update)["v0"].chosen == "APPEND_ONLY"
    (expectation,) = result(update, "v0").expectations
    assert (expectation.passed, expectation.failed, result(update, "v0").rows_written) == (1, 1, 1)
    lab.spark.sql(f"DELETE FROM {table} WHERE id IN (20, 21)")
    assert planned(lab, lab.done())["v0"].chosen == "ROW_BASED"
    assert_exact(lab, "SELECT id, v FROM {a} WHERE v < 100")


def test_expectations_are_counted_where_the_rows_are_computed(
    lab: Lab, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No second query computes the rows again to count them."""
    queries = {
        "lines": "SELECT id, g, v FROM SRC.a",
        "tops": "SELECT g, max(v) AS v FROM SRC.a GROUP BY g",
        "ranks": "SELECT id, g, v, rank() OVER (PARTITION BY g ORDER BY id) AS r FROM SRC.a",
    }
    declared = "\n".join(
        "@dp.materialized_view(refresh_policy='incremental')\n"
        f"@dp.expect_or_drop('small', 'v < 100')\n@dp.expect('even', 'v % 2 = 0')\n"
        f'def {name}(): return spark.sql("{query}")'
        for name, query in queries.items()
    )
    lab.file("views.py", f"from pyspark import pipelines as dp\n{declared}")
    lab.done()
    monkeypatch.setattr(materialized_view, "count_expectations", fail_to_count)
    # Per view: technique, rows that are computed, those not small, those not even.
    steps = {
        f"INSERT INTO {table} VALUES (20, 1, 1), (21, 7, 500)": {
            "lines": ("APPEND_ONLY", 2, 1, 1),
            "tops": ("GENERIC_AGGREGATE", 2, 1, 0),
            "ranks": ("WINDOW_FUNCTION", 5, 1, 1),
        },
        f"UPDATE {table} SET v = 300 WHERE g = 2": {
            "lines": ("ROW_BASED", 3, 3, 0),
            "tops": ("GENERIC_AGGREGATE", 1, 1, 0),
            "ranks": ("WINDOW_FUNCTION", 3, 3, 0),
        },
    }
    for change, wanted in steps.items():
        lab.spark.sql(change)
        update = lab.done()
        plans, found = planned(lab, update), {}
        for name in queries:
            small, even = result(update, name).expectations
            assert small.passed + small.failed == even.passed + even.failed
            found[name] = plans[name].chosen, small.passed + small.failed, small.failed, even.failed
        assert found == wanted, change


def fail_to_count(*_: Any) -> None:
    pytest.fail("the rows were computed again")


# Queries with their techniques after rows were appended, and after others were changed.
BY_GROUP = {
    QUERY: ("GROUP_AGGREGATE", "GROUP_AGGREGATE"),
    "SELECT g, count(DISTINCT v) AS n FROM {a} GROUP BY g": ("GENERIC_AGGREGATE", "GENERIC_AGGREGATE"),
    "SELECT id, g, rank() OVER (PARTITION BY g ORDER BY v) AS r FROM {a}": ("WINDOW_FUNCTION",) * 2,
    "SELECT id, g, v FROM {a}": ("APPEND_ONLY", "ROW_BASED"),
}


@pytest.mark.parametrize(
    "query", [QUERY, *(pytest.param(each, marks=pytest.mark.slow) for each in BY_GROUP if each != QUERY)]
)
@pytest.mark.parametrize("way", sampled(LIMITS, "merges"))
def test_groups_that_no_file_can_contain_are_appended_and_other_files_are_not_read(
    lab: Lab, table: str, query: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of the first groups is moved away: an update that reads it fails and recomputes."""
    replace_rows(monkeypatch, way)
    declare(lab, query)
    lab.done()
    old = [Path(each.removeprefix("file:")) for each in lab.table("v0").inputFiles()]
    away = [file.rename(file.with_suffix(".away")) for file in old]
    appended, changed = BY_GROUP[query]
    changed_rows = "MERGE" if way == "merges" else "REFRESH"
    merged = "WRITE" if appended == "APPEND_ONLY" else changed_rows
    for change, technique, operation in (
        ("INSERT INTO {a} VALUES (20, 7, 1), (21, 8, 1)", appended, "WRITE"),
        ("INSERT INTO {a} VALUES (22, 8, 2), (23, 9, 1)", appended, merged),
        ("UPDATE {a} SET v = 5 WHERE g = 8", changed, changed_rows),
        ("INSERT INTO {a} VALUES (24, NULL, 1), (25, 30, 1)", appended, "WRITE"),
        ("INSERT INTO {a} VALUES (26, NULL, 2), (27, 30, 2)", appended, merged),
    ):
        lab.spark.sql(change.format(a=table))
        assert planned(lab, lab.done())["v0"].chosen == technique, change
        view = load_table(lab.spark, ("main", lab.schema, "v0"))
        assert view is not None and view.commit().info["operation"] == operation, change
    for file, moved in zip(old, away, strict=True):
        moved.rename(file)
    assert_exact(lab, query)


class KilledError(BaseException):
    """The process ends here."""


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("query", [QUERY, "SELECT id, v FROM {a}"])
def test_an_update_that_is_killed_around_its_commit_is_repeated_exactly(
    lab: Lab, table: str, query: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(lab, query)
    lab.done()
    lab.spark.sql(f"INSERT INTO {table} VALUES (20, 1, 1), (20, 1, 1)")
    for name in ("append_rows", "merge_groups"):
        write = getattr(view_writes, name)

        def killed(*args: Any, write: Callable[..., None] = write) -> None:
            if when == "after":
                write(*args)
            raise KilledError

        monkeypatch.setattr(view_refresh, name, killed)
    with pytest.raises(KilledError):
        lab.run()
    monkeypatch.undo()
    expected = "NO_OP" if when == "after" else {QUERY: "GROUP_AGGREGATE"}.get(query, "APPEND_ONLY")
    assert planned(lab, lab.done())["v0"].chosen == expected
    assert_exact(lab, query)


@pytest.mark.slow
def test_a_failure_to_apply_changes_falls_back_to_a_recomputation(
    lab: Lab, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(lab, QUERY)
    lab.done()

    def fail(*_: Any) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(view_refresh, "merge_groups", fail)
    lab.spark.sql(f"INSERT INTO {table} VALUES (20, 1, 1)")
    lab.done()
    assert_exact(lab)


@pytest.mark.slow
def test_ctrl_c_while_changes_are_applied_does_not_recompute_the_view(
    lab: Lab, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(lab, QUERY)
    lab.done()
    version = lab.version("v0")

    def fail(*_: Any) -> None:
        interrupts._interrupts += 1
        raise RuntimeError("the connection is closed")

    lab.spark.sql(f"INSERT INTO {table} VALUES (20, 1, 1)")
    with monkeypatch.context() as patch:
        patch.setattr(interrupts, "_interrupts", 0)
        patch.setattr(view_refresh, "merge_groups", fail)
        assert lab.run().state == "CANCELED"
    assert lab.version("v0") == version
    lab.done()
    assert_exact(lab)


@pytest.mark.slow
def test_a_plan_that_cannot_be_read_is_a_recomputation_with_the_reason(
    lab: Lab, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no estimate")

    declare(lab, QUERY, policy="AUTO")
    lab.done()
    monkeypatch.setattr(technique_choice, "estimate", fail)
    lab.spark.sql(f"INSERT INTO {table} VALUES (20, 1, 1)")
    plan = planned(lab, lab.done())["v0"]
    assert plan.chosen == "COMPLETE_RECOMPUTE" and "no estimate" in plan.message
    assert_exact(lab)


POLICIES = [
    ("AUTO", "SELECT id FROM {a} LIMIT 3", None),
    ("INCREMENTAL", "SELECT id FROM {a} LIMIT 3", "OPERATOR_NOT_INCREMENTALIZABLE"),
    ("INCREMENTAL", "SELECT sum(v) AS s FROM {a}", None),
    ("INCREMENTAL STRICT", "SELECT id, rand() AS r FROM {a}", "EXPRESSION_NOT_DETERMINISTIC"),
    ("INCREMENTAL STRICT", "SELECT id, v FROM {a}", None),
]


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(("policy", "query", "condition"), POLICIES)
def test_a_policy_refuses_a_query_that_cannot_be_incremental(
    lab: Lab, policy: str, query: str, condition: str | None
) -> None:
    declare(lab, query, policy=policy)
    update = lab.run()
    if condition is None:
        assert update.state == "COMPLETED", update.error
    else:
        assert f"MATERIALIZED_VIEW_NOT_INCREMENTALIZABLE.{condition}" in str(update.error)
        assert not lab.tables()


def test_strict_fails_where_the_changes_are_unknown_and_keeps_the_rows(lab: Lab, table: str) -> None:
    declare(lab, QUERY, policy="INCREMENTAL STRICT")
    lab.done()
    before = lab.rows("v0")
    replace(lab, table)
    update = lab.run()
    assert "MATERIALIZED_VIEW_NOT_INCREMENTALIZABLE.DATA_HAS_CHANGED" in str(update.error)
    assert lab.rows("v0") == before
    lab.done(full_refresh_all=True)
    assert_exact(lab)


@pytest.mark.slow
def test_full_always_recomputes_and_auto_rejects_what_costs_more(lab: Lab, table: str) -> None:
    declare(lab, QUERY, policy="FULL")
    lab.done()
    assert planned(lab, lab.done())["v0"].chosen == "COMPLETE_RECOMPUTE"
    declare(lab, QUERY, policy="AUTO")
    lab.done()
    for _ in range(2):
        lab.spark.sql(f"INSERT INTO {table} SELECT id, id, id FROM range(4000)")
    plan = planned(lab, lab.done())["v0"]
    kinds = [each["maintenance_type"] for each in plan.details["technique_information"]]
    assert kinds[-1] == "MAINTENANCE_TYPE_COMPLETE_RECOMPUTE" and len(kinds) > 1
    assert_exact(lab)


@pytest.mark.slow
def test_no_helper_column_is_visible_and_the_old_rows_are_read_until_the_commit(lab: Lab, table: str) -> None:
    declare(lab, QUERY)
    lab.done()
    version = lab.version("v0")
    lab.spark.sql(f"UPDATE {table} SET g = 7 WHERE id < 2")
    lab.done()
    assert lab.table("v0").columns == ["g", "n", "s"] and lab.version("v0") == version + 1
    folder = folder_of(lab, f"main.{lab.schema}.v0")
    shutil.copytree(folder, lab.folder / "copy")
    old = lab.spark.read.format("delta").option("versionAsOf", version).load(f"file:{lab.folder}/copy")
    assert old.agg({"n": "sum"}).collect()[0][0] == 9
