"""`pyspark.databricks.sql.functions`: calls of columns give what the calls of SQL give."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.sql.geospatial.calls import AGGREGATES, CALLS, POINT

# The functions of this kind are Spark's own.
SPARKS = {
    "st_asbinary": (POINT, "'XDR'"),
    "st_geogfromwkb": ("X'0101000000000000000000F03F0000000000000040'",),
    "st_geomfromwkb": ("X'0101000000000000000000F03F0000000000000040'", "3857"),
    "st_setsrid": (POINT, "4326"),
    "st_srid": (POINT,),
}


@pytest.fixture
def dbf(installed: None) -> Any:
    from pyspark.databricks.sql import functions

    return functions


def test_the_names(dbf: Any) -> None:
    assert set(dbf.__all__) == set(CALLS) | set(SPARKS)
    assert dbf.st_x.__module__ == "pyspark.databricks.sql.functions"
    import pyspark.databricks.sql.functions as whole

    assert whole is dbf


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("st_x", "(col)"),
        ("st_contains", "(col1, col2)"),
        ("st_geomfromtext", "(col1, col2=None)"),
        ("st_scale", "(col1, col2, col3, col4=None)"),
        ("h3_validate", "(col)"),
        ("h3_longlatash3", "(col1, col2, col3)"),
    ],
)
def test_signatures(dbf: Any, name: str, signature: str) -> None:
    assert str(inspect.signature(getattr(dbf, name))) == signature


def argument(text: str) -> Any:
    """Return an argument as users write it: numbers and words as they are, other SQL as a column."""
    if re.fullmatch(r"-?[\d.]+D?", text):
        return float(text[:-1]) if text.endswith("D") else int(text)
    return {"true": True, "'XDR'": "XDR"}.get(text, F.expr(text))


def test_every_function(spark: SparkSession, dbf: Any) -> None:
    calls = {**CALLS, **SPARKS}
    by_sql, by_python = [], []
    for name, arguments in calls.items():
        sql, given = f"{name}({', '.join(arguments)})", [argument(text) for text in arguments]
        if name in AGGREGATES:
            assert (
                spark.range(1).agg(F.expr(sql)).collect()
                == spark.range(1).agg(getattr(dbf, name)(*given)).collect()
            )
            continue
        by_sql.append(F.expr(sql).alias(name))
        by_python.append(getattr(dbf, name)(*given).alias(name))
    frame = spark.range(1)
    assert frame.select(*by_python).collect() == frame.select(*by_sql).collect()


def test_names_of_columns_and_keywords(spark: SparkSession, dbf: Any) -> None:
    frame = spark.createDataFrame([("POINT(1 2)", 3857, 2.5)], "wkt string, srid int, d double")
    point = dbf.st_geomfromtext(col1="wkt", col2="srid")
    assert frame.select(dbf.st_asewkt(point)).collect() == [("SRID=3857;POINT(1 2)",)]
    assert frame.select(dbf.st_srid(dbf.st_geomfromtext("wkt", 4326))).collect() == [(4326,)]
    assert frame.select(dbf.st_asewkt(dbf.st_point("d", "d"))).collect() == [("POINT(2.5 2.5)",)]
    assert frame.select(dbf.st_x(dbf.st_geomfromtext("wkt"))).columns == ["st_x(st_geomfromtext(wkt))"]


def test_an_example_of_the_documentation(spark: SparkSession, dbf: Any) -> None:
    frame = spark.createDataFrame(
        [("MULTIPOINT(0 0,10 0,10 10,0 10,1 1,1 5,1 9,5 1,9 9,9 1,9 5,5 9)", 0.8)], ["wkt", "ratio"]
    )
    hull = dbf.st_astext(dbf.st_concavehull(dbf.st_geomfromtext("wkt"), "ratio"))
    assert frame.select(hull.alias("result")).collect() == [
        ("POLYGON((0 0,1 5,0 10,5 9,10 10,9 5,10 0,5 1,0 0))",)
    ]
    cells = spark.createDataFrame([(599686042433355775, 1)], ["h3l", "k"])
    assert cells.select(dbf.h3_hexring("h3l", "k")).first() == cells.select(dbf.h3_hexring("h3l", 1)).first()


def test_a_wrong_number_of_arguments(dbf: Any) -> None:
    with pytest.raises(TypeError):
        dbf.st_contains("a")
