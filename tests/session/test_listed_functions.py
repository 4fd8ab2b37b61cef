"""`spark.catalog.listFunctions` and SHOW USER FUNCTIONS list the functions of the schema alone."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakeward.session import ensure_catalog

pytestmark = pytest.mark.usefixtures("generated_code")


@pytest.fixture(params=["main", "dev"])
def schema(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    ensure_catalog(spark, request.param)
    name = f"{request.param}.f_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE SCHEMA {name}")
    spark.sql(f"CREATE FUNCTION {name}.gain(x INT) RETURNS INT RETURN x + 1")
    spark.sql(f"CREATE FUNCTION {name}.loss(x INT) RETURNS INT RETURN x - 1")
    yield name
    spark.sql("USE main.default")
    spark.sql(f"DROP SCHEMA {name} CASCADE")


@pytest.mark.parametrize(
    ("spelling", "pattern", "expected"),
    [("full", None, ["gain", "loss"]), ("part", "g*", ["gain"]), ("current", "gain|loss", ["gain", "loss"])],
)
def test_functions_of_a_schema_are_listed(
    spark: SparkSession, schema: str, spelling: str, pattern: str | None, expected: list[str]
) -> None:
    catalog, _, name = schema.partition(".")
    if spelling == "part":
        spark.sql(f"USE CATALOG {catalog}")
    elif spelling == "current":
        spark.sql(f"USE {schema}")
    argument = {"full": schema, "part": name, "current": None}[spelling]
    functions = spark.catalog.listFunctions(argument, pattern)
    own = sorted(each.name for each in functions if not each.isTemporary)
    assert own == expected
    assert {(each.catalog, tuple(each.namespace or ())) for each in functions if not each.isTemporary} == {
        (catalog, (name,))
    }
    assert not [each.name for each in functions if "lakeward" in each.name]


def test_user_functions_are_those_of_the_schema(spark: SparkSession, schema: str) -> None:
    names = [row[0] for row in spark.sql(f"SHOW USER FUNCTIONS IN {schema}").collect()]
    shown = [name for name in names if "." in name]  # other tests leave temporary functions
    assert shown == [f"{schema}.gain", f"{schema}.loss"]


@pytest.mark.parametrize(
    ("kind", "pattern", "expected"),
    [
        ("ALL", "getd*", {"getdate"}),
        ("SYSTEM", "getd*|try_secret", {"getdate", "try_secret"}),
        ("", "READ_FILES|abs", {"read_files", "abs"}),
        ("USER", "getd*|read_files", set()),
    ],
)
def test_functions_of_databricks_are_builtin(
    spark: SparkSession, schema: str, kind: str, pattern: str, expected: set[str]
) -> None:
    names = [row[0] for row in spark.sql(f"SHOW {kind} FUNCTIONS IN {schema} LIKE '{pattern}'").collect()]
    assert names == sorted(expected)


def test_builtin_functions_are_listed_and_a_missing_schema_is_an_error(spark: SparkSession) -> None:
    assert {"abs", "getdate", "read_files"} <= {each.name for each in spark.catalog.listFunctions()}
    with pytest.raises(AnalysisException, match="`no_such`"):
        spark.catalog.listFunctions("no_such")
