"""Code at module level builds columns, windows, UDFs and schemas before there is a session."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakeward.session.entry_points.ddl_types import parse_simple_type
from tests.processes import environ_without, outcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Name to (expression at module level, its text in a column list of rows a=1, b=2 or None).
NEEDS_JVM = {
    "col": 'F.col("a")',
    "lit": "F.lit(7)",
    "expr": 'F.expr("a + 1")',
    "when": 'F.when(F.col("a") == 1, "one").otherwise("other")',
    "sum": 'F.sum("a").over(Window.partitionBy("b"))',
    "rank": 'F.row_number().over(Window.orderBy(F.desc("a")).rowsBetween(Window.unboundedPreceding, 0))',
    "operators": '(F.col("a") + 1 > 1) & ~F.col("a").isNull() & F.col("b").isin(1, 2)',
    "cast": 'F.col("a").cast("string")',
    "alias": 'F.col("a").alias("c")',
    "transform": "F.transform(F.array(F.lit(1)), lambda x: x + 1)",
    "concat": 'F.concat_ws("-", "a", "b")',
    "struct": 'F.struct("a", F.lit(None))',
}
VALUES = {
    "col": 1,
    "lit": 7,
    "expr": 2,
    "when": "one",
    "sum": 1,
    "rank": 1,
    "operators": True,
    "cast": "1",
    "alias": 1,
    "transform": [2],
    "concat": "1-2",
    "struct": (1, None),
}
NEEDS_NO_JVM = {
    "udf": "F.udf(lambda x: x)",
    "udf_ddl": 'F.udf("int")(lambda x: x + 1)',
    "udf_nested": 'F.udf("array<struct<a:int,b:string>>")(lambda x: [])',
    "udf_type": "F.udf(lambda x: x + 1, T.IntegerType())",
    "pandas_udf_ddl": 'F.pandas_udf(plus_one, "int")',
    "pandas_udf_type": "F.pandas_udf(plus_one, T.IntegerType())",
    "schema": 'T.StructType.fromDDL("a int, b decimal(5,2) not null")',
    "literal_schema": 'T.StructType().add("a", "integer")',
    "desc": "Window.unboundedPreceding",
}
# A module of its own: Spark's workers import the module of a function, and they have no session.
PLUS_ONE = """\
import pandas as pd

def plus_one(x: pd.Series) -> pd.Series:
    return x + 1
"""
HEAD = "from pyspark.sql import Window, functions as F, types as T\n"
SIMPLE = (
    *("string", "int", "integer", "bigint", "long", "smallint", "short", "tinyint", "byte", "float", "real"),
    *("double", "boolean", "binary", "date", "timestamp", "timestamp_ltz", "timestamp_ntz", "decimal"),
    *("decimal(5)", "decimal(5,2)", "dec(38,38)", "numeric(1,0)"),
)
NESTED = (
    "array<{}>",
    "map<string, {}>",
    "struct<a:{}, b : int>",
    "struct<a {}>",
    "a {}",
    "a {} NOT NULL, `b` int",
    "date {}, map string, array ARRAY<{}>",
    " {} ",
    "a: {}",
)
LEFT_TO_SPARK = (
    "a int comment 'x'",
    "`a b` int",
    "varchar(5)",
    "interval day",
    "",
    "int int int",
    "a int,",
    "array<int",
    "decimal(39)",
    "decimal(2,3)",
    "nothing",
)
WITHOUT_JVM = """\
from lakeward.session import install_builder_hook, uninstall_builder_hook
from lakeward.session import spark_context
install_builder_hook()

class Started(BaseException): pass
def start(*_):
    raise Started
spark_context.start_jvm = start
from pyspark.errors import PySparkRuntimeError
{head}
made = {{}}
for name, text in {no_jvm!r}.items():
    made[name] = eval(text)
started = []
for name, text in {jvm!r}.items():
    try:
        eval(text)
    except Started:
        started.append(name)
assert made["udf_nested"].returnType.simpleString() == "array<struct<a:int,b:string>>"
print("started:", *started)
uninstall_builder_hook()
refused = []
for name, text in {jvm!r}.items():
    try:
        eval(text)
    except (AssertionError, PySparkRuntimeError):
        refused.append(name)
print("refused:", *refused)
"""
CONFTEST = """\
import pytest
from pyspark.sql import SparkSession, functions as F

ONE = F.lit(1)

@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    warehouse = tmp_path_factory.mktemp("warehouse")
    builder = SparkSession.builder.master("local[1]").appName("own")
    return builder.config("spark.sql.warehouse.dir", str(warehouse)).getOrCreate()
"""
SUITE = """\
import pytest
from conftest import ONE
from pyspark import SparkContext

import code_under_test as code

IN_COLLECTION = SparkContext._active_spark_context

def test_columns(spark):
    frame = spark.createDataFrame([(1, 2)], "a int, b int")
    columns = {name: getattr(code, name) for name in code.VALUES}
    row = frame.select(*[column.alias(name) for name, column in columns.items()]).first()
    assert row.asDict() == code.VALUES

def test_functions(spark):
    frame = spark.createDataFrame([(1,)], "a int")
    named = [code.udf_ddl, code.udf_type, code.pandas_udf_ddl, code.pandas_udf_type]
    assert list(frame.select(*[each("a") for each in named], ONE).first()) == [2, 2, 2, 2, 1]

def test_settings_of_the_suites_own_builder_win(spark):
    assert IN_COLLECTION is None
    assert spark.sparkContext.master == "local[1]"
    assert "warehouse" in spark.conf.get("spark.sql.warehouse.dir")

def test_an_error_still_names_the_users_line(spark):
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO[^$]*test_suite.py"):
        spark.range(1).select(ONE / code.F.col("id")).collect()
"""


def assignments(expressions: dict[str, str]) -> str:
    return "".join(f"{name} = {text}\n" for name, text in expressions.items())


def test_only_columns_start_the_jvm_and_all_of_them_do(tmp_path: Path) -> None:
    program = WITHOUT_JVM.format(head=PLUS_ONE + HEAD, no_jvm=NEEDS_NO_JVM, jvm=NEEDS_JVM)
    ran = outcome([sys.executable, "-c", program], cwd=tmp_path, env=environ_without("LAKEWARD_"), timeout=60)
    assert ran.returncode == 0, ran.stderr
    everything = " ".join(NEEDS_JVM)
    assert ran.stdout.splitlines() == [f"started: {everything}", f"refused: {everything}"]


@pytest.mark.process
def test_a_suite_builds_columns_at_module_level(tmp_path: Path) -> None:
    (tmp_path / "plus.py").write_text(PLUS_ONE)
    code = (
        "from plus import plus_one\n"
        + HEAD
        + assignments(NEEDS_NO_JVM | NEEDS_JVM)
        + f"VALUES = {VALUES!r}\n"
    )
    (tmp_path / "code_under_test.py").write_text(code)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    ran = outcome(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=environ_without("LAKEWARD_", "PYTEST"),
        timeout=180,
    )
    assert "4 passed" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.parametrize("form", NESTED)
def test_a_simple_type_reads_as_spark_reads_it(spark: SparkSession, form: str) -> None:
    for name in SIMPLE:
        text = form.replace("{}", name)
        expected = spark.sparkContext._parse_ddl(text)
        found = parse_simple_type(text)
        assert found in (expected, None), text
        assert found is not None or "`" in form, text


@pytest.mark.parametrize("text", LEFT_TO_SPARK)
def test_what_is_not_simple_is_left_to_spark(text: str) -> None:
    assert parse_simple_type(text) is None
