"""Rules of every function of the table: NULL, number and kind of arguments, constants, column names."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakeward.session import condition_of
from tests.sql.geospatial.calls import AGGREGATES, CALLS, FUNCTIONS

SCALARS = sorted(set(CALLS) - AGGREGATES)
_TYPES = {
    "geo": "GEOMETRY(0)",
    "geometry": "GEOMETRY(0)",
    "geometries": "ARRAY<GEOMETRY(0)>",
    "srid": "INT",
    "text": "STRING",
    "cell": "STRING",
    "cells": "ARRAY<STRING>",
}


def shown(call: str) -> str:
    """SQL of a call whose result is compared: of geometries the text with the SRID."""
    result = FUNCTIONS[call.partition("(")[0]].result
    if result == "array<same>":
        return f"transform({call}, g -> st_asewkt(g))"
    return f"st_asewkt({call})" if result.startswith(("same", "geo")) else call


def test_every_function_has_a_call() -> None:
    assert {name: len(FUNCTIONS[name].arguments) for name in CALLS} == {n: len(a) for n, a in CALLS.items()}


def test_no_argument_is_null_and_the_result_is_not(spark: SparkSession) -> None:
    calls = [f"{name}({', '.join(CALLS[name])})" for name in SCALARS]
    row = spark.sql("SELECT " + ", ".join(f"{call} IS NOT NULL" for call in calls)).first()
    assert row is not None
    assert [call for call, there in zip(calls, row, strict=True) if not there] == []


def test_null_in_null_out(spark: SparkSession) -> None:
    calls = []
    for name in SCALARS:
        for at, kind in enumerate(FUNCTIONS[name].arguments):
            null = f"CAST(NULL AS {_TYPES.get(kind, kind)})"
            calls.append(f"{name}({', '.join((*CALLS[name][:at], null, *CALLS[name][at + 1 :]))})")
    row = spark.sql("SELECT " + ", ".join(f"{call} IS NULL" for call in calls)).first()
    assert row is not None
    assert [call for call, null in zip(calls, row, strict=True) if not null] == []


def test_an_untyped_null_is_a_geometry_that_is_null(spark: SparkSession) -> None:
    row = spark.sql(
        "SELECT " + ", ".join(f"{name}({', '.join(['NULL'] * len(CALLS[name]))})" for name in SCALARS)
    ).first()
    assert row is not None
    assert set(row) == {None}


@pytest.mark.parametrize("name", CALLS)
def test_the_number_of_arguments(spark: SparkSession, name: str) -> None:
    for given in (CALLS[name][: FUNCTIONS[name].required - 1], (*CALLS[name], "1")):
        with pytest.raises(AnalysisException) as raised:
            spark.sql(f"SELECT {name}({', '.join(given)})")
        assert condition_of(raised.value) == "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"
        assert f"`{name}`" in str(raised.value)


@pytest.mark.parametrize(
    "name", [n for n in CALLS if {"geo", "geometry", "geometries"} & set(FUNCTIONS[n].arguments)]
)
def test_a_string_is_no_geometry(spark: SparkSession, name: str) -> None:
    for at, kind in enumerate(FUNCTIONS[name].arguments):
        if kind not in ("geo", "geometry", "geometries"):
            continue
        other = "array('POINT(1 2)')" if kind == "geometries" else "'POINT(1 2)'"
        with pytest.raises(AnalysisException) as raised:
            spark.sql(f"SELECT {name}({', '.join((*CALLS[name][:at], other, *CALLS[name][at + 1 :]))})")
        assert condition_of(raised.value) == "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"


@pytest.mark.parametrize("name", [n for n in CALLS if "geometry" in FUNCTIONS[n].arguments])
def test_a_geography_is_no_geometry(spark: SparkSession, name: str) -> None:
    at = FUNCTIONS[name].arguments.index("geometry")
    other = "st_geogfromtext('POINT(1 2)')"
    with pytest.raises(AnalysisException) as raised:
        spark.sql(f"SELECT {name}({', '.join((*CALLS[name][:at], other, *CALLS[name][at + 1 :]))})")
    assert condition_of(raised.value) == "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"


def test_columns_give_what_constants_give(spark: SparkSession) -> None:
    """Constants are computed by the optimizer, columns row by row, here in two tasks."""
    calls = [shown(f"{name}({', '.join(CALLS[name])})") for name in SCALARS]
    constant = spark.sql("SELECT " + ", ".join(calls)).first()
    columns: dict[str, str] = {}
    by_column = []
    for name in SCALARS:
        arguments = [columns.setdefault(each, f"c{len(columns)}") for each in CALLS[name]]
        by_column.append(shown(f"{name}({', '.join(arguments)})"))
    source = ", ".join(f"{text} AS {name}" for text, name in columns.items())
    rows = spark.sql(f"SELECT id, {source} FROM range(0, 4, 1, 2) DISTRIBUTE BY id")
    frame = rows.selectExpr(*(f"{call} AS r{i}" for i, call in enumerate(by_column)))
    assert frame.collect() == [constant] * 4


def test_columns_are_named_as_the_calls_are_written(spark: SparkSession) -> None:
    names = [f"{name}({', '.join(f'c{i}' for i in range(len(CALLS[name])))})" for name in CALLS]
    frames = [
        spark.sql("SELECT " + ", ".join(f"{each} AS c{i}" for i, each in enumerate(arguments))).selectExpr(
            name
        )
        for name, arguments in zip(names, CALLS.values(), strict=True)
    ]
    assert [frame.columns for frame in frames] == [[name] for name in names]


def test_the_functions_are_listed(spark: SparkSession) -> None:
    listed = {row[0].rpartition(".")[2] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    assert set(CALLS) <= listed
