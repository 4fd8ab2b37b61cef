"""Dates, charsets and results of Python functions, as on runtimes with Spark 3, 4.0, 4.1 and 4.2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit, pandas_udf, udf, udtf
from pyspark.sql.types import DoubleType, IntegerType, StringType, StructType

from lakeward.session import PROFILES, get_profile

SPARK_3 = ["13.3", "14.3", "15.4", "16.4"]
BEFORE_4_2 = [*SPARK_3, "17.3", "18.3"]
NEWEST = ["19.3", "serverless"]
SETTABLE = ("spark.sql.", "spark.databricks.delta.")


@pytest.fixture
def as_on(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """The session with the settings of a runtime."""
    conf = {k: v for k, v in get_profile(request.param).conf().items() if k.startswith(SETTABLE)}
    # A profile without one of the settings leaves Spark's default.
    every = {k for p in PROFILES.values() for k in p.conf() if k.startswith(SETTABLE)}
    before = {k: spark.conf.get(k, None) for k in every}
    for key in every:
        if key in conf:
            spark.conf.set(key, conf[key])
        else:
            spark.conf.unset(key)
    yield spark
    for key, value in before.items():
        if value is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, value)


def test_every_runtime_is_in_one_of_the_lists() -> None:
    assert {*BEFORE_4_2, *NEWEST} == {*PROFILES}


@pytest.mark.parametrize("as_on", SPARK_3, indirect=True)
@pytest.mark.parametrize(
    "expression", ["to_date('2020-01-27T20', 'yyyy-MM-dd')", "unix_timestamp('2020-1-7', 'yyyy-MM-dd')"]
)
def test_a_date_that_only_the_old_parser_takes_is_an_error_in_spark_3(
    as_on: SparkSession, expression: str
) -> None:
    with pytest.raises(PySparkException, match="INCONSISTENT_BEHAVIOR_CROSS_VERSION"):
        as_on.sql(f"SELECT {expression}").collect()


@pytest.mark.parametrize("as_on", SPARK_3, indirect=True)
def test_spark_3_has_all_charsets_of_java(as_on: SparkSession, tmp_path: Path) -> None:
    text = "name;price\nété;5 €\n"
    (tmp_path / "cp1252.csv").write_bytes(text.encode("cp1252"))
    reader = as_on.read.option("header", True).option("sep", ";").option("encoding", "cp1252")
    assert [tuple(row) for row in reader.csv(str(tmp_path)).collect()] == [("été", "5 €")]
    row = as_on.sql(
        "SELECT decode(encode('é', 'windows-1252'), 'windows-1252'), encode('€', 'US-ASCII')"
    ).first()
    assert row is not None
    assert tuple(row) == ("é", b"?")


@pytest.mark.parametrize("as_on", ["17.3", "18.3", *NEWEST], indirect=True)
@pytest.mark.parametrize("expression", ["encode('é', 'windows-1252')", "decode(X'E9', 'windows-1252')"])
def test_spark_4_has_the_charsets_of_the_standard(as_on: SparkSession, expression: str) -> None:
    with pytest.raises(PySparkException, match=r"INVALID_PARAMETER_VALUE\.CHARSET"):
        as_on.sql(f"SELECT {expression}").collect()


def results(spark: SparkSession) -> list[Any]:
    """What functions give that return other types than they declare."""
    returned: list[tuple[Any, Any]] = [
        (1.7, IntegerType()),
        ("7", IntegerType()),
        (3, DoubleType()),
        ({"a": 1}, StringType()),
        (5, StringType()),
    ]
    columns = [udf(lambda _, value=value: value, type_)("id") for value, type_ in returned]
    row = spark.range(1).select(*columns).first()
    assert row is not None
    return list(row)


@pytest.mark.parametrize("as_on", BEFORE_4_2, indirect=True)
def test_before_4_2_values_of_another_type_become_null(as_on: SparkSession) -> None:
    assert results(as_on) == [None, None, None, "{a=1}", "5"]


@pytest.mark.parametrize("as_on", NEWEST, indirect=True)
def test_since_4_2_values_of_another_type_are_cast(as_on: SparkSession) -> None:
    assert results(as_on) == [1, 7, 3.0, "{'a': 1}", "5"]


def cut_rows(session: SparkSession, kind: str) -> list[Any]:
    """Return the value 1.7 of a function of pandas that declares BIGINT."""
    rows = session.range(1)
    if kind == "pandas_udf":
        cut = rows.select(pandas_udf(lambda ids: ids + 1.7, "bigint")("id").alias("n"))
    elif kind == "mapInPandas":
        cut = rows.mapInPandas(lambda frames: (frame.assign(n=1.7)[["n"]] for frame in frames), "n bigint")
    else:
        cut = rows.groupBy("id").applyInPandas(lambda frame: frame.assign(n=1.7)[["n"]], "n bigint")
    return [row["n"] for row in cut.collect()]


@pytest.mark.parametrize("kind", ["pandas_udf", "mapInPandas", "applyInPandas"])
@pytest.mark.parametrize("as_on", [*SPARK_3, "17.3"], indirect=True)
def test_before_4_1_functions_of_pandas_cut_fractions(as_on: SparkSession, kind: str) -> None:
    assert cut_rows(as_on, kind) == [1]


@pytest.mark.parametrize("kind", ["pandas_udf", "mapInPandas", "applyInPandas"])
@pytest.mark.parametrize("as_on", ["18.3", *NEWEST], indirect=True)
def test_since_4_1_functions_of_pandas_refuse_fractions(as_on: SparkSession, kind: str) -> None:
    with pytest.raises(PySparkException, match="truncated converting to int64"):
        cut_rows(as_on, kind)


BY_NAME: dict[str, Callable[[DataFrame, str], None]] = {
    "saveAsTable": lambda rows, table: rows.write.mode("append").saveAsTable(table),
    "saveAsTable overwrite": lambda rows, table: rows.write.mode("overwrite").saveAsTable(table),
    "writeTo append": lambda rows, table: rows.writeTo(table).append(),
    "writeTo overwrite": lambda rows, table: rows.writeTo(table).overwrite(lit(True)),
}


@pytest.fixture
def typed_table(as_on: SparkSession) -> Iterator[str]:
    as_on.sql("CREATE OR REPLACE TABLE main.default.typed_columns (n INT, d DATE)")
    yield "main.default.typed_columns"
    as_on.sql("DROP TABLE main.default.typed_columns")


@pytest.mark.parametrize("schema", ["n BIGINT, d DATE", "n INT, d STRING"])
@pytest.mark.parametrize("write", BY_NAME)
@pytest.mark.parametrize("as_on", [*SPARK_3, "17.3"], indirect=True)
def test_before_18_a_frame_of_other_types_is_refused(
    as_on: SparkSession, typed_table: str, write: str, schema: str
) -> None:
    day = "DATE '2025-11-28'" if "DATE" in schema else "'2025-11-28'"
    rows = as_on.sql(f"SELECT 1 AS n, {day} AS d").to(StructType.fromDDL(schema))
    with pytest.raises(PySparkException) as raised:
        BY_NAME[write](rows, typed_table)
    assert raised.value.getCondition() == "DELTA_FAILED_TO_MERGE_FIELDS"
    assert as_on.table(typed_table).collect() == []


@pytest.mark.parametrize("schema", ["n BIGINT, d DATE", "n INT, d STRING"])
@pytest.mark.parametrize("write", [each for each in BY_NAME if each != "saveAsTable overwrite"])
@pytest.mark.parametrize("as_on", ["18.3", *NEWEST], indirect=True)
def test_since_18_a_frame_of_other_types_is_cast(
    as_on: SparkSession, typed_table: str, write: str, schema: str
) -> None:
    day = "DATE '2025-11-28'" if "DATE" in schema else "'2025-11-28'"
    BY_NAME[write](as_on.sql(f"SELECT 1 AS n, {day} AS d").to(StructType.fromDDL(schema)), typed_table)
    assert [tuple(row) for row in as_on.table(typed_table).collect()] == [(1, date(2025, 11, 28))]


@pytest.mark.parametrize("as_on", [*BEFORE_4_2, *NEWEST], indirect=True)
def test_values_of_the_declared_type_are_the_same_everywhere(as_on: SparkSession) -> None:
    class Pairs:
        def eval(self, count: int) -> Iterator[tuple[int, str]]:
            yield from ((k, str(k)) for k in range(count))

    length = udf(lambda text: len(text), IntegerType())
    assert [row[0] for row in as_on.sql("SELECT 'abc' AS text").select(length("text")).collect()] == [3]
    pairs = udtf(Pairs, returnType="a INT, b STRING")
    assert [tuple(row) for row in pairs(lit(2)).collect()] == [(0, "0"), (1, "1")]


# The query, its names on clusters, and those on serverless compute, as notebooks of both show them.
DERIVED_NAMES = {
    "count(*)": ("count(1)", "count(*)"),
    "count(DISTINCT a), avg(a)": ("count(DISTINCT a) avg(a)", "count(DISTINCTa) avg(a)"),
    "coalesce(max(a),1)": ("coalesce(max(a), 1)", "coalesce(max(a),1)"),
    "max(a) / NULLIF(max(b), 0)": ("(max(a) / nullif(max(b), 0))", "max(a)/NULLIF(max(b),0)"),
    "floor(max(b) * 10) / 10": ("(FLOOR((max(b) * 10)) / 10)", "floor(max(b)*10)/10"),
    "!isnull(max(a))": ("(NOT (max(a) IS NULL))", "!isnull(max(a))"),
    "max(a) AS n": ("n", "n"),
    "parse_json('{}'):owner, '{}':owner.name": ("owner name", "owner name"),
    "upper(current_catalog())": ("upper(current_catalog())", "upper(current_catalog())"),
}


@pytest.mark.parametrize("as_on", [*PROFILES], indirect=True)
def test_columns_without_an_alias_have_the_names_of_the_runtime(
    as_on: SparkSession, request: pytest.FixtureRequest
) -> None:
    """Serverless compute derives them from the text, clusters from the analyzed expression."""
    is_serverless = request.node.callspec.params["as_on"] == "serverless"
    found = {
        text: " ".join(as_on.sql(f"SELECT {text} FROM VALUES (1, 2.0D) AS t(a, b)").columns)
        for text in DERIVED_NAMES
    }
    assert found == {text: names[is_serverless] for text, names in DERIVED_NAMES.items()}


@pytest.mark.parametrize("as_on", ["serverless"], indirect=True)
def test_a_view_has_the_derived_names_of_serverless_compute(as_on: SparkSession) -> None:
    query = "SELECT id + 1, count(*) FROM range(3) GROUP BY id"
    as_on.sql(f"CREATE OR REPLACE VIEW main.default.derived_names AS {query}")
    assert as_on.table("main.default.derived_names").columns == ["id+1", "count(*)"]
    as_on.sql("DROP VIEW main.default.derived_names")
