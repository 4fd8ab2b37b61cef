"""The examples of the documentation: the same calls give the same results."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession


def _areas() -> dict[str, list[tuple[str, str]]]:
    areas: dict[str, list[tuple[str, str]]] = {}
    for line in Path(__file__).with_name("examples.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            cases = areas.setdefault(line[2:], [])
        elif line:
            call, _, result = line.partition(" => ")
            cases.append((call, result))
    return {area: cases for area, cases in areas.items() if cases}


AREAS = _areas()


@pytest.mark.parametrize("area", AREAS)
def test_an_example_of_the_documentation(spark: SparkSession, area: str) -> None:
    cases = AREAS[area]
    row = spark.sql(
        "SELECT " + ", ".join(f"ifnull(CAST({call} AS STRING), 'NULL')" for call, _ in cases)
    ).first()
    assert row is not None
    assert [f"{call} => {found}" for (call, _), found in zip(cases, row, strict=True)] == [
        f"{call} => {result}" for call, result in cases
    ]


def test_an_aggregate_of_the_documentation(spark: SparkSession) -> None:
    texts = (
        "('POINT(-5 -5)'),('MULTIPOINT(1 2,8 8,5 9,-7 -7,EMPTY)'),"
        "('MULTILINESTRING(EMPTY,(5 5,9 9),(9 9,15 15))'),('POLYGON((0 0,10 0,10 10,0 10,0 0))')"
    )
    query = "SELECT st_astext(st_envelope_agg(st_geomfromtext(*))) FROM (SELECT * FROM VALUES" + texts + ")"
    assert spark.sql(query).collect() == [("POLYGON((-7 -7,-7 15,15 15,15 -7,-7 -7))",)]
    nothing = "SELECT st_envelope_agg(st_geomfromtext(geom)) FROM (SELECT 'POINT(1 1)' AS geom WHERE false)"
    assert spark.sql(nothing).collect() == [(None,)]
