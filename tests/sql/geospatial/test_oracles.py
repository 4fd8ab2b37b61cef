"""Relations, measures and set operations, compared with values of GEOS (shapely) and PROJ (pyproj)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

RELATIONS = ("contains", "within", "covers", "coveredby", "disjoint", "equals", "intersects", "touches")


def _lines(name: str) -> list[str]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


SHAPES = [line for line in _lines("relations.txt") if line[0].isalpha()]
PAIRS = [line.split() for line in _lines("relations.txt") if line[0].isdigit()]


def test_relations_and_distances(spark: SparkSession) -> None:
    shapes = ", ".join(f"({i}, st_geomfromtext('{text}'))" for i, text in enumerate(SHAPES))
    relations = ", ".join(f"CAST(st_{name}(a.g, b.g) AS INT)" for name in RELATIONS)
    rows = spark.sql(
        f"WITH s AS (SELECT * FROM VALUES {shapes} AS t(i, g)) "
        f"SELECT a.i, b.i, concat({relations}), st_distance(a.g, b.g) "
        "FROM s a CROSS JOIN s b ORDER BY a.i, b.i"
    ).collect()
    assert [(str(i), str(j), bits) for i, j, bits, _ in rows] == [(i, j, bits) for i, j, bits, _ in PAIRS]
    assert [row[3] for row in rows] == pytest.approx([float(pair[3]) for pair in PAIRS])


def elements(text: str) -> list[str]:
    """Return the elements of a geometry's text in an order of their own.

    >>> elements("MULTIPOINT((5 5),(0 0))")
    ['(0 0)', '(5 5)', 'MULTIPOINT']
    """
    compact = re.sub(r"\s*([(),])\s*", r"\1", text)
    name, _, body = compact.partition("(")
    if not name.startswith(("MULTI", "GEOMETRYCOLLECTION")):
        return [compact]
    depth, parts = 0, [""]
    for each in body.removesuffix(")"):
        depth += (each == "(") - (each == ")")
        if each == "," and not depth:
            parts.append("")
        else:
            parts[-1] += each
    return sorted([name, *parts])


@pytest.mark.parametrize("operation", ["st_union", "st_intersection", "st_difference", "st_symdifference"])
def test_set_operations(spark: SparkSession, operation: str) -> None:
    cases = [line.split(" ", 3) for line in _lines("overlays.txt") if line.startswith(f"{operation} ")]
    calls = [
        f"st_astext({operation}(st_geomfromtext('{SHAPES[int(i)]}'), st_geomfromtext('{SHAPES[int(j)]}')))"
        for _, i, j, _ in cases
    ]
    row = spark.sql(f"SELECT {', '.join(calls)}").first()
    assert row is not None
    assert [(i, j, elements(found)) for (_, i, j, _), found in zip(cases, row, strict=True)] == [
        (i, j, elements(text)) for _, i, j, text in cases
    ]


LINES = {
    # longitude, latitude, longitude, latitude: meters, azimuth
    (10, 34, 44, 57): (3618945.31478757, 0.604031760720541),
    (0, 0, 179.5, 0.5): (19936288.578965314, 0.44805870670509396),
    (0, 0, 180, 0): (20003931.458625447, 0.0),
    (-122.4, 37.8, 2.35, 48.86): (8972517.756499913, 0.5800256683409664),
    (179, 10, -179, 10): (219278.3924049462, 1.567765293910013),
    (0, 90, 0, -90): (20003931.458625447, 3.141592653589793),
}
AREAS = {
    # square meters, meters of the boundary
    "POLYGON((0 0,50 0,50 50,0 50,0 0),(20 20,25 30,30 20,20 20))": (27228523078833.65, 23644028.336914483),
    "POLYGON((170 10,-170 10,-170 20,170 20,170 10))": (2396553402237.116, 6497155.785439912),
    "POLYGON((0 80,90 80,180 80,-90 80,0 80))": (2507270031169.875, 6301599.963614223),
}
MERCATOR = {
    (4, 5): (445277.96317309426, 557305.2572745768),
    (-3, 8): (-333958.4723798207, 893463.751012646),
    (179.9, 84.9): (20026376.393709917, 19845401.33549638),
    (-122.4, -37.8): (-13625505.673096687, -4551210.91969189),
}


def test_geodesic_lines(spark: SparkSession) -> None:
    for (x, y, other_x, other_y), (meters, azimuth) in LINES.items():
        texts = f"POINT({x} {y})", f"POINT({other_x} {other_y})"
        row = spark.sql(
            f"SELECT st_distancespheroid(st_geomfromtext('{texts[0]}'), st_geomfromtext('{texts[1]}')), "
            f"st_azimuth(st_geogfromtext('{texts[0]}'), st_geogfromtext('{texts[1]}')), "
            f"st_length(st_geogfromtext('LINESTRING({x} {y},{other_x} {other_y})'))"
        ).first()
        assert row == pytest.approx((meters, azimuth, meters), rel=1e-11)


@pytest.mark.parametrize("text", AREAS)
def test_geodesic_areas(spark: SparkSession, text: str) -> None:
    row = spark.sql(
        f"SELECT st_area(st_geogfromtext('{text}')), st_perimeter(st_geogfromtext('{text}')), "
        f"st_geogarea('{text}'), st_geogperimeter('{text}'), st_geoglength('{text}')"
    ).first()
    assert row == pytest.approx((*AREAS[text], *AREAS[text], 0.0), rel=1e-11)


def test_web_mercator_and_back(spark: SparkSession) -> None:
    for (x, y), (east, north) in MERCATOR.items():
        row = spark.sql(
            "SELECT st_x(g), st_y(g), st_x(st_transform(g, 4326)), st_y(st_transform(g, 4326)), st_srid(g) "
            f"FROM (SELECT st_transform(st_point({x}, {y}, 4326), 3857) AS g)"
        ).first()
        assert row == pytest.approx((east, north, x, y, 3857), rel=1e-11)


def test_hulls_centers_and_boundaries(spark: SparkSession) -> None:
    text = "POLYGON((0 0,20 0,20 10,15 5,5 10,0 25,0 0))"
    row = spark.sql(
        "SELECT st_astext(st_centroid(g)), st_astext(st_convexhull(g)), st_astext(st_boundary(g)), "
        "st_astext(st_pointonsurface(g)), st_area(st_buffer(g, 1)), "
        "st_astext(st_concavehull(g, 0.3)) "
        f"FROM (SELECT st_geomfromtext('{text}') AS g)"
    ).first()
    assert row is not None
    assert row[4] == pytest.approx(292.0594949306922)
    assert (*row[:4], row[5]) == (
        "POINT(7.8125 6.25)",
        "POLYGON((0 0,0 25,20 10,20 0,0 0))",
        "LINESTRING(0 0,20 0,20 10,15 5,5 10,0 25,0 0)",
        "POINT(1.25 17.5)",
        "POLYGON((0 0,0 25,5 10,20 10,20 0,15 5,0 0))",
    )


def test_the_nearest_point_and_a_simplified_line(spark: SparkSession) -> None:
    row = spark.sql(
        "SELECT st_astext(st_closestpoint(st_geomfromtext('LINESTRING(0 0,10 0)'), st_point(4, 7))), "
        "st_astext(st_simplify(st_geomfromtext('LINESTRING(0 0,2 0.1,4 0,4 1,4 5)'), 0.5)), "
        "st_dwithin(st_point(0, 0), st_point(3, 4), 5), st_dwithin(st_point(0, 0), st_point(3, 4), 4.99)"
    ).first()
    assert row == ("POINT(4 0)", "LINESTRING(0 0,4 0,4 5)", True, False)
