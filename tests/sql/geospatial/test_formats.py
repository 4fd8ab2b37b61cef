"""Every type of geometry in every dimension, empty and not, goes through every format unchanged."""

from __future__ import annotations

from itertools import product

import pytest
from pyspark.sql import SparkSession

_P = ["1 2", "3 4.5", "-5 6e-10", "1 2"]
_DIMENSIONS = {"": (), "Z": ("7",), "M": ("8",), "ZM": ("7", "8")}


def texts(dimension: str) -> list[str]:
    """Return a text of each type, then an empty one of each, as the writer writes them."""
    more = "".join(f" {each}" for each in _DIMENSIONS[dimension])
    points = [f"{point}{more}" for point in _P]
    tag = f" {dimension} " if dimension else ""
    ring = f"({','.join(points)})"
    point, line, polygon = (
        f"POINT{tag}({points[0]})",
        f"LINESTRING{tag}{ring}",
        f"POLYGON{tag}({ring},{ring})",
    )
    full = [
        *(point, line, polygon, f"MULTIPOINT{tag}(({points[0]}),EMPTY,({points[1]}))"),
        *(f"MULTILINESTRING{tag}({ring},EMPTY)", f"MULTIPOLYGON{tag}(({ring}),EMPTY,({ring},{ring}))"),
        f"GEOMETRYCOLLECTION{tag}({point},{polygon},GEOMETRYCOLLECTION{tag}({line},POINT{tag or ' '}EMPTY))",
    ]
    return [*full, *(f"{text.split('(')[0].split(' ')[0]}{tag or ' '}EMPTY" for text in full)]


# The text `{}` is written and read again.
WAYS = {
    "WKT": "st_geomfromtext(st_astext({}))",
    "EWKT": "st_geomfromewkt(st_asewkt(st_setsrid({}, 3857)))",
    "WKB, little-endian": "to_geometry(st_aswkb({}))",
    "WKB, big-endian": "to_geometry(st_aswkb({}, 'XDR'))",
    "EWKB, little-endian": "st_geomfromewkb(st_asewkb(st_setsrid({}, 3857)))",
    "EWKB, big-endian": "to_geometry(st_asewkb({}, 'XDR'))",
    "Spark's reader": "st_geomfromwkb(st_aswkb({}))",
    "Spark's writer": "to_geometry(st_asbinary({}))",
    "GeoJSON": "st_geomfromgeojson(st_asgeojson({}))",
    "a geography": "to_geometry(st_aswkb(st_geogfromtext(st_astext({}))))",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_geometry_is_read_as_it_was_written(spark: SparkSession, way: str) -> None:
    dimensions = ["", "Z"] if way == "GeoJSON" else list(_DIMENSIONS)
    cases = [text for dimension in dimensions for text in texts(dimension)]
    if way == "GeoJSON":
        # An empty array has no dimension.
        cases = [text for text in cases if "Z EMPTY" not in text]
    calls = ["st_astext(" + WAYS[way].format(f"st_geomfromtext('{text}')") + ")" for text in cases]
    row = spark.sql(f"SELECT {', '.join(calls)}").first()
    assert row is not None
    assert list(row) == cases


SPELLINGS = {
    "point(1 2)": "POINT(1 2)",
    " POINT  ( 1   2 ) ": "POINT(1 2)",
    "POINTZ(1 2 3)": "POINT Z (1 2 3)",
    "Point zm(1 2 3 4)": "POINT ZM (1 2 3 4)",
    "POINT M(1 2 3)": "POINT M (1 2 3)",
    "MULTIPOINT(1 2,(3 4),EMPTY)": "MULTIPOINT((1 2),(3 4),EMPTY)",
    "LINESTRING(+1 .5,1e2 -2.)": "LINESTRING(1 0.5,100 -2)",
    "POINT(1e300 -1e-300)": "POINT(1e+300 -1e-300)",
    "POINT(0.1 123456789.123456789)": "POINT(0.1 123456789.12345679)",
    "POINT(100000 0.0001)": "POINT(100000 0.0001)",
    "polygon empty": "POLYGON EMPTY",
    "POINT(-0 0)": "POINT(0 0)",
}


def test_spellings_of_text(spark: SparkSession) -> None:
    row = spark.sql(
        "SELECT " + ", ".join(f"st_astext(st_geomfromtext('{text}'))" for text in SPELLINGS)
    ).first()
    assert row is not None
    assert dict(zip(SPELLINGS, row, strict=True)) == SPELLINGS


KINDS = (
    "Point",
    "LineString",
    "Polygon",
    "MultiPoint",
    "MultiLineString",
    "MultiPolygon",
    "GeometryCollection",
)


def test_properties_of_every_type(spark: SparkSession) -> None:
    """The type, the dimensions, the numbers of points and of elements, by the texts themselves."""
    for (dimension, more), (at, kind) in product(_DIMENSIONS.items(), enumerate(KINDS)):
        full, empty = texts(dimension)[at], texts(dimension)[at + 7]
        row = spark.sql(
            f"SELECT st_geometrytype(g), st_ndims(g), st_npoints(g), st_isempty(g), st_isempty(e), "
            "st_npoints(e), st_numgeometries(e), st_numgeometries(g), size(st_dump(g)), st_dimension(g) "
            f"FROM (SELECT st_geomfromtext('{full}') AS g, st_geomfromtext('{empty}') AS e)"
        ).first()
        elements = {"MultiPoint": 3, "MultiLineString": 2, "MultiPolygon": 3, "GeometryCollection": 3}.get(
            kind, 1
        )
        singles = 4 if kind == "GeometryCollection" else elements
        points = [1, 4, 8, 2, 4, 12, 13][at]
        topology = [0, 1, 2, 0, 1, 2, 2][at]
        assert row == (
            *(f"ST_{kind}", 2 + len(more), points, False, True),
            *(0, 0, elements, singles, topology),
        ), full
