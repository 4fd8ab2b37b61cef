"""The knowledge is the rooms' own: every row of their tables has a verdict, and the same one."""

from __future__ import annotations

import pytest

from lakeward.autoloader import OPTIONS, Option
from lakeward.check.model import Kind, Place, Use, Verdict
from lakeward.check.verdicts import judge_use
from lakeward.databricks_shims import NAMES, SERVED
from lakeward.dbutils import FUNCTIONS as DBUTILS
from lakeward.environments import STAND_INS
from lakeward.jobs import COMPOSITES, KINDS
from lakeward.pipelines import FUNCTIONS, MODULES, Function
from lakeward.session import CONNECT_MODULES, SERVERLESS_LIMITS, SERVERLESS_NAMES, refused_statement
from lakeward.sql import CONSTRUCTS, PASSTHROUGH_STATEMENTS, Construct, PassthroughStatement
from tests.check.conftest import Look


def verdict(kind: Kind, name: str, detail: str | None = None) -> Verdict | None:
    found = judge_use(Use(kind, name, Place("f.py", 0, 1, 1), detail))
    assert found is None or (found.cure.endswith((".", "!")) and found.cure.lstrip("`")[0].isalpha()), found
    return found.verdict if found else None


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_an_option_of_auto_loader_has_the_verdict_of_its_row(option: Option) -> None:
    expected = {"supported": "runs_with_lakeward", "accepted": "differs", "refused": "refused"}
    value = "json" if option.key == "cloudFiles.format" else "something"
    assert verdict("option", option.key, value) == expected[option.verdict]
    assert verdict("option", option.key.upper(), value) == expected[option.verdict]


def test_options_of_files_that_were_read_are_served() -> None:
    assert verdict("option", "cloudFiles.cleanSource", "off") == "runs_with_lakeward"
    assert verdict("option", "cloudFiles.cleanSource", None) == "runs_with_lakeward"


@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row.name)
def test_a_function_of_the_pipeline_api_has_the_verdict_of_its_row(row: Function) -> None:
    for name in row.names:
        assert verdict("pipeline", name) == "runs_with_lakeward"
    for parameter in row.parameters:
        expected = {"supported": None, "accepted": "differs", "refused": "refused"}[parameter.verdict]
        assert verdict("parameter", f"{row.name}.{parameter.name}", "x") == expected
    assert verdict("parameter", f"{row.name}.unknown", "x") == "refused"


def test_functions_of_dbutils_have_the_verdicts_of_their_rows() -> None:
    expected = {
        "runs": "runs_with_lakeward",
        "differs": "differs",
        "no effect": "differs",
        "refused": "refused",
    }
    for row in DBUTILS:
        assert verdict("dbutils", f"{row.group}.{row.name}") == expected[row.verdict], row.full_name
    assert verdict("dbutils", "fs.unknown") == "refused"
    for holder in ("", "notebook."):
        assert verdict("dbutils", f"{holder}entry_point.getDbutils.notebook") == "runs_with_lakeward"
    assert verdict("dbutils", "entry_points") == "refused"
    assert verdict("dbutils", "fs") is None


def test_limits_of_serverless_are_reported_with_the_platforms_condition(look: Look) -> None:
    owners = {"SparkSession": "spark", "DataFrame": "df", "Catalog": "spark.catalog"}
    limits = [limit for limit in SERVERLESS_LIMITS if limit.owner in owners]
    code = "\n".join(f"{owners[limit.owner]}.{limit.name}" for limit in limits)
    found = look(code)
    for number, limit in enumerate(limits, start=1):
        (finding,) = [each for each in found.report.findings if each.place.line == number]
        assert finding.verdict == "fails_on_serverless" and limit.condition in finding.cure
        assert finding.construct == f"{limit.owner}.{limit.name}"


@pytest.mark.parametrize(
    "sql",
    [
        "cache lazy table t",
        "uncache table t",
        "refresh table t",
        "create or replace global temp view v as select 1",
        "set spark.sql.adaptive.enabled = false",
    ],
)
def test_statements_that_serverless_refuses_are_reported(sql: str, look: Look) -> None:
    limit = refused_statement(sql)
    found = look({"q.sql": f"select 1;\n-- now\n{sql};"})
    (finding,) = found.report.of("fails_on_serverless")
    assert limit is not None and limit.subject in finding.construct and limit.condition in finding.cure
    assert str(finding.place) == "q.sql:3:1"


def test_streams_with_a_trigger_that_serverless_lacks_are_reported(look: Look) -> None:
    found = look("""\
df.writeStream.trigger(availableNow=True).toTable("a")
df.writeStream.trigger(processingTime="1 minute").toTable("b")
df.writeStream.format("delta").start("/x")
writer = df.writeStream
writer.start("/y")
df.writeStream.table("c")
""")
    assert [(each.construct, each.place.line) for each in found.report.of("fails_on_serverless")] == [
        ("trigger(processingTime=…)", 2), ("a stream without a trigger", 3),
        ("a stream without a trigger", 6),
    ]  # fmt: skip


def test_a_task_runs_when_the_runner_has_its_kind() -> None:
    for kind in (*KINDS, *COMPOSITES):
        assert verdict("task", kind) == "runs_with_lakeward"
    assert verdict("task", "dbt_cloud_task") == "refused"


@pytest.mark.parametrize(
    ("pin", "expected"),
    [
        ("==3.5.1", "differs"),
        (">=3.5", None),
        ("<4", "differs"),
        ("~=4.2", None),
        (None, None),
        ("==x", None),
    ],
)
def test_a_pin_that_excludes_our_spark_is_reported(pin: str | None, expected: Verdict | None) -> None:
    assert verdict("requirement", "pyspark", pin) == expected


def test_packages_that_lakeward_replaces_are_reported() -> None:
    for package in STAND_INS:
        expected = None if package in ("pyspark", "delta-spark", "lakeward") else "differs"
        assert (
            verdict("requirement", package.upper().replace("-", "_"), None) == expected
            or package == "lakeward"
        )


def test_modules_and_names_that_are_served_run() -> None:
    for name in (*SERVED, *CONNECT_MODULES, *MODULES):
        assert verdict("module", name) == "runs_with_lakeward"
    for name in NAMES:
        expected = "fails_on_serverless" if name in SERVERLESS_NAMES else "runs_with_lakeward"
        assert verdict("builtin", name) == expected
    assert verdict("module", "databricks.sdk.service.jobs") == "differs"
    assert verdict("module", "databricks.labs.x") == "runs_as_is"
    assert verdict("module", "pyspark.databricks.x") == "refused"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/Volumes/main/raw/in", "runs_with_lakeward"),
        ("dbfs:/mnt/x", "runs_with_lakeward"),
        ("/mnt/lake/x", "runs_with_lakeward"),
        ("s3://bucket/in", "needs_seed"),
        ("abfss://raw@account.dfs.core.windows.net/x", "needs_seed"),
        ("s3://", None),
        ("dbfs://host/x", "refused"),
    ],
)
def test_a_path_is_mapped_or_needs_a_folder(path: str, expected: Verdict | None) -> None:
    assert verdict("path", path) == expected


@pytest.mark.parametrize("row", CONSTRUCTS, ids=lambda row: row.name)
def test_a_construct_of_the_sql_front_end_has_the_verdict_of_its_row(row: Construct, look: Look) -> None:
    expected = {"supported": "runs_as_is", "unsupported": "refused"}.get(row.verdict, "runs_with_lakeward")
    assert verdict("sql", row.name) == expected
    found = look({"q.sql": row.example}).verdicts()
    if row.verdict == "unsupported" or row.statement is not None or row.edits is not None:
        assert found[f"SQL {row.name}"] == expected
    assert "refused" not in found.values() or row.verdict == "unsupported"


@pytest.mark.parametrize("phrase", PASSTHROUGH_STATEMENTS, ids=lambda phrase: phrase.name)
def test_a_phrase_is_found_in_its_example(phrase: PassthroughStatement, look: Look) -> None:
    expected = {"unsupported": "refused", "emulated": "runs_with_lakeward"}.get(phrase.verdict, "runs_as_is")
    assert look({"q.sql": f"-- one\n{phrase.example};"}).verdicts()[f"SQL {phrase.name}"] == expected
