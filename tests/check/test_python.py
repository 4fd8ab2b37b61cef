"""What is found in Python code, and where."""

from __future__ import annotations

import pytest

from lakeward.databricks_shims import DEFAULTS
from tests.check.conftest import Look

PIPELINE = """\
import dlt as dp

@dp.table(
    cluster_by_auto=True,
)
@dp.expect("ok", "id > 0")
def bronze():
    return (
        spark.readStream.format("cloudFiles")
        .option("cloudFiles.format", "json")
        .option("cloudFiles.maxFileAge", "1 day")
        .option("cloudFiles.fromat", "json")
        .load("/Volumes/main/raw/in")
    )

dp.no_such_flow(target="t", replace_using=["id"])
"""


def test_each_use_has_the_line_and_column_of_its_own_word(look: Look) -> None:
    found = look(PIPELINE)
    assert found.places("pipelines table(cluster_by_auto=…)") == ["job.py:4:21"]
    assert found.places("pipelines expect") == ["job.py:6:5"]
    assert found.places("Auto Loader (cloudFiles)") == ["job.py:9:26"]
    assert found.places("option cloudFiles.maxFileAge") == ["job.py:11:10"]
    assert found.places("option cloudFiles.fromat") == ["job.py:12:10"]
    assert found.places("path /Volumes") == ["job.py:13:15"]
    assert found.places("pipelines no_such_flow") == ["job.py:16:4"]
    assert found.of("refused") == [
        "option cloudFiles.fromat",
        "pipelines no_such_flow",
    ]


@pytest.mark.parametrize(
    "imports",
    [
        "from pyspark import pipelines as p\np.replace_flow('s', 'kafka')",
        "import pyspark.pipelines\npyspark.pipelines.replace_flow('s', 'kafka')",
        "from pyspark.pipelines import replace_flow as c\nc('s', 'kafka')",
        "import dlt\ndlt.replace_flow('s', 'kafka')",
        "from dlt import *\nreplace_flow('s', 'kafka')",
    ],
)
def test_the_pipeline_api_is_known_by_every_import(look: Look, imports: str) -> None:
    assert look(imports).one("pipelines replace_flow").verdict == "runs_with_lakeward"


@pytest.mark.parametrize(
    "text",
    [
        "import dlt\np = dlt.pipeline(pipeline_name='p')\n@dlt.resource(name='r')\ndef r(): yield 1\n",
        "import dlt as d\n@d.source\ndef s(): pass\n@d.transformer()\ndef t(x): yield x\n",
        "from dlt import pipeline, destination\npipeline(destination=destination('duckdb'))\n",
    ],
)
def test_functions_of_the_package_dlt_that_loads_data_are_no_mistakes(look: Look, text: str) -> None:
    assert look(text).of("refused") == []


@pytest.mark.parametrize(
    "text", ["import dlt\ndlt.piepline()", "from pyspark import pipelines\npipelines.run()"]
)
def test_other_names_of_the_pipeline_api_are_mistakes(look: Look, text: str) -> None:
    assert len(look(text).of("refused")) == 1


def test_another_table_decorator_is_not_ours(look: Look) -> None:
    assert look("from rich.table import Table as table\n@table\ndef t(): pass\n").report.findings == ()


def test_options_in_a_dict_are_found_wherever_it_goes(look: Look) -> None:
    found = look('OPTIONS = {"cloudFiles.format": "iceberg", "cloudFiles.useNotifications": True, "x": 1}\n')
    assert found.verdicts() == {
        "option cloudFiles.format=iceberg": "refused", "option cloudFiles.useNotifications": "differs"
    }  # fmt: skip


@pytest.mark.parametrize(("value", "verdict"), [('"false"', "runs_with_lakeward"), ("True", "differs")])
def test_an_option_without_effect_that_has_its_default_does_not_differ(
    look: Look, value: str, verdict: str
) -> None:
    code = f'spark.readStream.format("cloudFiles").option("cloudFiles.useNotifications", {value})'
    assert look(code).verdicts()["option cloudFiles.useNotifications"] == verdict


def test_a_dataframe_is_known_by_what_made_it_its_annotation_or_its_name(look: Look) -> None:
    found = look("""\
from pyspark.sql import DataFrame
result = spark.sql("select 1").where("a")
result.cache()
def f(rows: DataFrame, cache):
    rows.persist()
    cache.persist()
orders_df.cache()
anything.withColumn("a", b).cache()
functools.cache(f)
self.cache()
""")
    assert [finding.place.line for finding in found.report.findings] == [3, 5, 7, 8]


def test_a_session_is_known_under_other_names(look: Look) -> None:
    found = look("""\
from pyspark.sql import SparkSession
s = SparkSession.builder.appName("x").getOrCreate()
s.sparkContext
class A:
    def f(self, session: SparkSession):
        session._jvm
        self.spark._jsc
SparkSession.getActiveSession().sparkContext
""")
    assert [(each.construct, each.place.line) for each in found.report.of("fails_on_serverless")] == [
        ("SparkSession.sparkContext", 3), ("SparkSession._jvm", 6),
        ("SparkSession._jsc", 7), ("SparkSession.sparkContext", 8),
    ]  # fmt: skip


def test_settings_that_serverless_refuses_are_reported_and_those_it_has_are_not(look: Look) -> None:
    found = look('spark.conf.set("spark.sql.shuffle.partitions", 4)\nspark.conf.set("spark.x.y", 1)\n')
    assert found.verdicts() == {"setting spark.x.y": "fails_on_serverless"}


def test_settings_of_the_platform_are_reported_with_what_they_are_here(look: Look) -> None:
    for row in DEFAULTS:
        found = look(f"spark.conf.get('{row.key}')\n").one(f"setting {row.key}")
        assert found.verdict == "differs" and row.about in found.cure
    assert look("spark.conf.get('spark.databricks.unknown')").of("refused") == [
        "setting spark.databricks.unknown"
    ]
    assert look("spark.conf.get('spark.databricks.unknown', '')").of("refused") == []


@pytest.mark.parametrize(
    ("code", "module"),
    [
        ("from dbruntime.databricks_repl_context import get_context", "dbruntime.databricks_repl_context"),
        ("import dbruntime.databricks_repl_context as c", "dbruntime.databricks_repl_context"),
        ("from dbruntime import databricks_repl_context", "dbruntime.databricks_repl_context"),
        ("from dbruntime.dbutils import FileInfo", "dbruntime.dbutils"),
        ("from dbruntime import dbutils", "dbruntime.dbutils"),
        ("from dbruntime.display import displayHTML", "dbruntime.display"),
        ("import dbruntime", "dbruntime"),
        ("from pyspark.databricks.sql import functions as dbf", "pyspark.databricks.sql.functions"),
        ("from pyspark.databricks.sql.functions import st_x", "pyspark.databricks.sql.functions"),
        ("import pyspark.databricks.sql.functions as dbf", "pyspark.databricks.sql.functions"),
        ("from pyspark.databricks import sql", "pyspark.databricks.sql"),
    ],
)
def test_modules_of_the_platform_that_are_served_run(look: Look, code: str, module: str) -> None:
    assert look(code).one(f"module {module}").verdict == "runs_with_lakeward"
    name = "from dbruntime import UserNamespaceInitializer"
    assert look(name).of("refused") == ["module dbruntime.UserNamespaceInitializer"]


def test_a_guarded_import_is_not_refused(look: Look) -> None:
    plain = look("from databricks.nowhere import x\nimport dbruntime.x\n")
    assert plain.one("module dbruntime.x").verdict == "refused"
    guarded = look("try:\n    import dbruntime.x\nexcept ImportError:\n    pass\n")
    assert guarded.one("module dbruntime.x").verdict == "differs"


def test_imports_for_types_only_do_not_count(look: Look) -> None:
    assert look("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import dlt\n").report.findings == ()


def test_docstrings_and_comments_are_no_uses(look: Look) -> None:
    text = '"""/Volumes/a/b"""\ndef f():\n    """dbfs:/x"""\n    # /Volumes/a\n'
    assert look(text).report.findings == ()


def test_a_long_chain_and_a_deep_sum_are_read(look: Look) -> None:
    chain = "df = spark.table('t')" + ".withColumn('a', b)" * 300 + ".cache()\n"
    deep = "x = " + " + ".join(["'a'"] * 300) + "\n"
    assert look(chain + deep).one("DataFrame.cache").place.line == 1


@pytest.mark.parametrize(
    "code",
    [
        "class W:\n  dbutils = dbutils.widgets\n  def get(self, name):\n    return self.dbutils.get(name)\n",
        "class W:\n    def clear(self):\n        self.dbutils.removeAll()\n",
        "config.dbutils.text('a', 'b')\n",
    ],
)
def test_an_attribute_dbutils_may_hold_something_else(look: Look, code: str) -> None:
    assert look(code).of("refused") == []


@pytest.mark.parametrize("code", ["dbutils.removeAll()\n", "w.dbutils.a()\n", "dbutils.fs.lss('/')\n"])
def test_a_function_that_dbutils_lacks_is_refused(look: Look, code: str) -> None:
    head = "from databricks.sdk import WorkspaceClient\nw = WorkspaceClient()\n"
    assert len(look(head + code).of("refused")) == 1


def test_functions_of_an_attribute_dbutils_are_known(look: Look) -> None:
    found = look("class W:\n    def get(self):\n        return self.dbutils.widgets.get('a')\n")
    assert found.of("runs_with_lakeward") == ["dbutils.widgets.get"]
