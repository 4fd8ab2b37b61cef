"""Cells of H3: examples of the documentation, values of the library for Python, rules of coverings."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

_TRIANGLE = "POLYGON((-122.4194 37.7749,-118.2437 34.0522,-74.0060 40.7128,-122.4194 37.7749))"
_TRIANGLE_AS_WKB = (
    "0103000000010000000400000050fc1873d79a5ec0d0d556ec2fe342404182e2c7988f5dc0f46c567dae064140"
    "aaf1d24d628052c05e4bc8073d5b444050fc1873d79a5ec0d0d556ec2fe34240"
)
# The documentation has them in another order, which it does not promise.
_CELLS = [
    *("822657fffffffff", "82268ffffffffff", "82269ffffffffff", "8226e7fffffffff"),
    *("8226f7fffffffff", "822987fffffffff", "822997fffffffff", "8229affffffffff"),
]
EXAMPLES = {
    f"h3_polyfillash3string('{_TRIANGLE}', 2)": _CELLS,
    f"h3_try_polyfillash3string(unhex('{_TRIANGLE_AS_WKB}'), 2)": _CELLS,
    f"h3_polyfillash3('{_TRIANGLE}', 2)": [int(cell, 16) for cell in _CELLS],
    "h3_hexring(599686042433355775, 1)": [
        *(599686014516068351, 599686030622195711, 599686044580839423),
        *(599686038138388479, 599686043507097599, 599686015589810175),
    ],
    "h3_hexring('85283473fffffff', 1)": [
        *("8528340bfffffff", "85283447fffffff", "8528347bfffffff"),
        *("85283463fffffff", "85283477fffffff", "8528340ffffffff"),
    ],
    "h3_hexring('85283473fffffff', 0)": ["85283473fffffff"],
    "h3_validate(599686030622195711)": 599686030622195711,
    "h3_try_validate(0L)": None,
    "h3_isvalid('x')": False,
    "h3_try_distance('8528340bfffffff', '85f05ab7fffffff')": None,
    "h3_compact(array())": [],
    "typeof(h3_kringdistances(599686042433355775, 1))": "array<struct<cellid:bigint,distance:int>>",
    "typeof(h3_kringdistances('85283473fffffff', 1))": "array<struct<cellid:string,distance:int>>",
    "typeof(h3_tessellateaswkb('POINT(1 2)', 3))": "array<struct<cellid:bigint,core:boolean,chip:binary>>",
    "h3_try_coverash3('x', 3)": None,
    "h3_try_polyfillash3string('POINT(1 2)', 3)": None,
    "h3_try_tessellateaswkb(X'00', 3)": None,
    "h3_pointash3('POINT EMPTY', 3)": None,
    "h3_coverash3('POLYGON EMPTY', 3)": [],
}
AREAS = {
    "POLYGON((-122.5 37.7,-122.3 37.7,-122.3 37.9,-122.5 37.9,-122.5 37.7))": 7,
    "POLYGON((-122.5 37.7,-122.3 37.7,-122.3 37.9,-122.5 37.9,-122.5 37.7),"
    "(-122.45 37.75,-122.35 37.75,-122.4 37.85,-122.45 37.75))": 8,
    "MULTIPOLYGON(((10 50,12 50,11 52,10 50)),((20 -5,21 -5,21 -4,20 -5)))": 5,
}


def _library_values() -> list[tuple[str, str]]:
    lines = Path(__file__).with_name("cells.txt").read_text(encoding="utf-8").splitlines()
    return [(call, result) for call, _, result in (line.partition(" => ") for line in lines) if result]


def test_examples(spark: SparkSession) -> None:
    row = spark.sql(f"SELECT {', '.join(EXAMPLES)}").first()
    assert row is not None
    assert dict(zip(EXAMPLES, row, strict=True)) == EXAMPLES


def test_values_of_the_library(spark: SparkSession) -> None:
    values = _library_values()
    row = spark.sql("SELECT " + ", ".join(f"CAST({call} AS STRING)" for call, _ in values)).first()
    assert row is not None
    assert [(call, found) for (call, _), found in zip(values, row, strict=True)] == values


@pytest.mark.parametrize("form", ["WKT", "GeoJSON", "WKB"])
def test_a_region_in_every_form(spark: SparkSession, form: str) -> None:
    text = next(iter(AREAS))
    geometry = f"st_geomfromtext('{text}')"
    given = {"WKT": f"'{text}'", "GeoJSON": f"st_asgeojson({geometry})", "WKB": f"st_aswkb({geometry})"}[form]
    row = spark.sql(
        f"SELECT h3_coverash3({given}, 6) = h3_coverash3('{text}', 6), "
        f"h3_polyfillash3({given}, 6) = h3_polyfillash3('{text}', 6), "
        f"h3_tessellateaswkb({given}, 6) = h3_tessellateaswkb('{text}', 6)"
    ).first()
    assert row == (True, True, True)


@pytest.mark.parametrize("text", AREAS)
def test_a_tessellation_is_the_region_in_pieces(spark: SparkSession, text: str) -> None:
    spark.sql(f"SELECT inline(h3_tessellateaswkb('{text}', {AREAS[text]}))").createOrReplaceTempView("pieces")
    row = spark.sql(
        "SELECT sum(st_area(g)), st_area(st_symdifference(st_union_agg(g), "
        f"st_geomfromtext('{text}'))), count_if(NOT st_coveredby(g, st_buffer(cell, 1e-9))), "
        "count_if(core != (abs(st_area(g) - st_area(cell)) < 1e-12)), count(*) - count(DISTINCT cellid), "
        "count_if(core) FROM (SELECT *, st_geomfromwkb(chip) AS g, "
        "st_geomfromtext(h3_boundaryaswkt(cellid)) AS cell FROM pieces)"
    ).first()
    assert row is not None
    whole = spark.sql(f"SELECT st_area(st_geomfromtext('{text}'))").first()
    assert whole is not None
    assert row[0] == pytest.approx(whole[0])
    assert row[1] == pytest.approx(0, abs=1e-9)
    assert row[2:5] == (0, 0, 0)
    assert row[5] > 0


@pytest.mark.parametrize(
    "line", ["LINESTRING(1 2,3 4,3 4.5)", "LINESTRING(179.9 -17,179.99 -17.5)", "LINESTRING(-1 51,1 51)"]
)
def test_a_line_is_covered(spark: SparkSession, line: str) -> None:
    """Of every point of the line the cell is there, and every cell meets the line."""
    points = line[len("LINESTRING(") : -1].split(",")
    coordinates = [tuple(map(float, point.split())) for point in points]
    sampled = [
        (x + (u - x) * k / 500, y + (v - y) * k / 500)
        for (x, y), (u, v) in pairwise(coordinates)
        for k in range(501)
    ]
    cells = (
        spark.createDataFrame(sampled, "x double, y double")
        .selectExpr("h3_longlatash3(x, y, 6) AS c")
        .distinct()
    )
    covered = {row[0] for row in spark.sql(f"SELECT explode(h3_coverash3('{line}', 6))").collect()}
    assert {row[0] for row in cells.collect()} <= covered
    apart = spark.sql(
        "SELECT count_if(NOT st_intersects("
        f"st_geomfromtext(h3_boundaryaswkt(c)), st_geomfromtext('{line}'))) "
        f"FROM (SELECT explode(h3_coverash3('{line}', 6)) AS c)"
    ).first()
    assert apart == (0,)


def test_cells_join_points_and_regions(spark: SparkSession) -> None:
    text = next(iter(AREAS))
    query = (
        "SELECT p.id FROM (SELECT id, -122.55 + id / 50 AS x, 37.8 AS y FROM range(20)) p "
        f"JOIN (SELECT inline(h3_tessellateaswkb('{text}', 7))) t ON h3_longlatash3(p.x, p.y, 7) = t.cellid "
        "WHERE t.core OR st_contains(st_geomfromwkb(t.chip), st_point(p.x, p.y)) ORDER BY 1"
    )
    direct = (
        "SELECT id FROM (SELECT id, -122.55 + id / 50 AS x, 37.8 AS y FROM range(20)) "
        f"WHERE st_contains(st_geomfromtext('{text}'), st_point(x, y)) ORDER BY 1"
    )
    rows = spark.sql(query).collect()
    assert rows == spark.sql(direct).collect()
    assert len(rows) > 5
