"""Errors of functions of geometries have the platform's conditions, for constants and for columns."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeward.session import condition_of
from tests.conditions import failing

_LINE = "st_geomfromtext('LINESTRING(1 2,3 4)')"
_TYPE = "ST_INVALID_ARGUMENT.INVALID_TYPE"
_INDEX = "ST_INVALID_ARGUMENT.INVALID_INDEX_VALUE"
_MULTI = "st_geomfromtext('MULTIPOINT(1 2,3 4)')"
_EMPTY = "st_geomfromtext('LINESTRING EMPTY')"
_COLLECTION = "st_geomfromtext('GEOMETRYCOLLECTION(POINT(1 2))')"
ERRORS = {
    "WKT_PARSE_ERROR": [
        *("st_geomfromtext('POINT(1 2')", "st_geomfromtext('POINT(1 2 3)')", "st_geomfromtext('')"),
        *(
            "st_geomfromtext('POINT Z (1 2)')",
            "st_geomfromtext('CIRCLE(1 2)')",
            "to_geometry('POINT(1 2) x')",
        ),
        *("st_geomfromtext('LINESTRING(1 2)')", "st_geomfromtext('POLYGON((0 0,1 0,1 1,0 1))')"),
        *("st_geomfromtext('POLYGON((0 0,1 0,0 0))')", "st_geomfromtext('POINT(1 nan)')"),
        *("st_geogfromtext('POINT(181 0)')", "st_geogfromtext('POINT(0 -90.5)')", "to_geography('x')"),
        "st_geomfromtext('GEOMETRYCOLLECTION(POINT(1 2),POINT Z (1 2 3))')",
        *(
            "h3_coverash3('GEOMETRYCOLLECTION(POINT(1 2))', 3)",
            "h3_polyfillash3('POINT(1 2)', 3)",
            "h3_pointash3('x', 1)",
        ),
        *("h3_pointash3('LINESTRING(1 2,3 4)', 1)", "h3_tessellateaswkb('POINT(1', 1)"),
    ],
    "EWKT_PARSE_ERROR": [
        *("st_geomfromewkt('SRID=x;POINT(1 2)')", "to_geometry('SRID=4326 POINT(1 2)')"),
        *("st_geogfromewkt('SRID=4326;POINT(1)')", "to_geography('SRID=4326;POINT(200 1)')"),
    ],
    "GEOJSON_PARSE_ERROR": [
        *("st_geomfromgeojson('{')", "st_geomfromgeojson('[]')", "st_geogfromgeojson('1')"),
        """st_geomfromgeojson('{"type":"Circle","coordinates":[1,2]}')""",
        """st_geomfromgeojson('{"type":"Point","coordinates":[1]}')""",
        """st_geomfromgeojson('{"type":"Point","coordinates":[1,2]} x')""",
        """st_geomfromgeojson('{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}')""",
        """st_geomfromgeojson('{"type":"Point","coordinates":["a","b"]}')""",
        """to_geometry('{"type":"LineString","coordinates":[[1,2],[1,2,3]]}')""",
        """to_geography('{"type":"Point","coordinates":[200,2]}')""",
    ],
    "WKB_PARSE_ERROR": ["to_geometry(X'0101')", "to_geometry(X'0109000000')", "to_geography(X'02')"],
    "EWKB_PARSE_ERROR": ["st_geomfromewkb(X'01')", "to_geometry(X'0101000020110F0000')"],
    "ST_INVALID_SRID_VALUE": [
        *(
            "st_point(1, 2, 99999)",
            "st_geomfromtext('POINT(1 2)', -1)",
            "st_geomfromewkt('SRID=99999;POINT(1 2)')",
        ),
        "st_geogfromewkt('SRID=3857;POINT(1 2)')",
    ],
    "ST_DIFFERENT_SRID_VALUES": [
        *(f"st_{name}(st_point(1, 2), st_point(1, 2, 4326))" for name in ("contains", "union", "distance")),
        *(f"st_{name}(st_point(1, 2), st_point(1, 2, 4326))" for name in ("azimuth", "closestpoint")),
        *(
            "st_dwithin(st_point(1, 2), st_point(1, 2, 4326), 1)",
            f"st_addpoint({_LINE}, st_point(1, 2, 4326))",
        ),
        "st_makeline(array(to_geometry('POINT(1 2)'), to_geometry('SRID=4326;POINT(1 2)')))",
    ],
    _TYPE: [
        *(f"st_{name}({_LINE})" for name in "xyzm"),
        *(f"st_{name}({_MULTI})" for name in ("startpoint", "endpoint", "exteriorring", "numinteriorrings")),
        *(f"st_{name}({_MULTI}, 1)" for name in ("pointn", "removepoint", "interiorringn")),
        *(
            f"st_{name}({_COLLECTION}, st_point(1, 2))"
            for name in ("contains", "within", "touches", "equals")
        ),
        *(
            f"st_{name}(st_point(1, 2), {_COLLECTION})"
            for name in ("covers", "coveredby", "disjoint", "intersects")
        ),
        *(
            f"st_{name}({_LINE}, {_LINE})"
            for name in ("azimuth", "distancesphere", "distancespheroid", "addpoint")
        ),
        *("st_makeline(array(st_geomfromtext('POLYGON EMPTY')))", "st_makepolygon(st_point(1, 2))"),
        f"st_removepoint({_EMPTY}, 1)",
    ],
    _INDEX: [
        *(f"st_pointn({_LINE}, {n})" for n in (0, 3, -3)),
        *(f"st_setpoint({_LINE}, {n}, st_point(1, 2))" for n in (0, 3, -3)),
        *(f"st_addpoint({_LINE}, st_point(1, 2), {n})" for n in (0, 4, -4)),
        *(f"st_geometryn({_MULTI}, {n})" for n in (0, 3, -1)),
        *("st_geometryn(st_point(1, 2), 2)", "st_geometryn(st_geomfromtext('POINT EMPTY'), 1)"),
        "st_interiorringn(st_geomfromtext('POLYGON((0 0,1 0,1 1,0 0))'), 1)",
    ],
    "ST_INVALID_ARGUMENT.EMPTY_LINESTRING": [
        *(f"st_pointn({_EMPTY}, 1)", f"st_startpoint({_EMPTY})", f"st_endpoint({_EMPTY})"),
    ],
    "ST_INVALID_ARGUMENT.EMPTY_POINT": [f"st_addpoint({_LINE}, st_geomfromtext('POINT EMPTY'))"],
    "ST_INVALID_ARGUMENT.INVALID_GEOHASH_VALUE": ["st_geomfromgeohash('9Q')", "st_pointfromgeohash('a')"],
    "ST_INVALID_ARGUMENT.LONGITUDE_OUT_OF_BOUNDS": [
        "st_geohash(st_point(180.5, 1))",
        "st_geohash(st_point(-181, 1), 3)",
    ],
    "ST_INVALID_ARGUMENT.LATITUDE_OUT_OF_BOUNDS": [
        "st_geohash(st_point(1, -91))",
        "st_geohash(st_point(1, 90.1), 3)",
    ],
    "ST_INVALID_ARGUMENT.LENGTH_RATIO_OUT_OF_BOUNDS": [
        f"st_concavehull({_MULTI}, 1.1)",
        f"st_concavehull({_MULTI}, -1)",
    ],
    "ST_INVALID_ARGUMENT.INVALID_ENDIANNESS_VALUE": ["st_asewkb(st_point(1, 2), 'x')"],
    "ST_INVALID_ARGUMENT.OUTER_BOUNDARY_NOT_CLOSED": [f"st_makepolygon({_LINE})"],
    "ST_INVALID_ARGUMENT.EMPTY_OUTER_BOUNDARY": [f"st_makepolygon({_EMPTY}, array({_LINE}))"],
    "ST_INVALID_ARGUMENT.TOO_FEW_VERTICES_IN_OUTER_BOUNDARY": [
        "st_makepolygon(st_geomfromtext('LINESTRING(1 2,3 4,1 2)'))"
    ],
    "ST_INVALID_ARGUMENT.INNER_BOUNDARY_NOT_CLOSED": [
        f"st_makepolygon(st_geomfromtext('LINESTRING(0 0,9 0,9 9,0 0)'), array({_LINE}))"
    ],
    "ST_INVALID_ARGUMENT.TOO_FEW_VERTICES_IN_INNER_BOUNDARY": [
        f"st_makepolygon(st_geomfromtext('LINESTRING(0 0,9 0,9 9,0 0)'), array({_EMPTY}))"
    ],
    "ST_INVALID_ARGUMENT.TOO_FEW_VERTICES_IN_LINESTRING": [f"st_removepoint({_LINE}, 1)"],
    "H3_INVALID_CELL_ID": [
        *(
            "h3_hexring(0, 0)",
            "h3_toparent('zz', 1)",
            "h3_resolution(1L)",
            "h3_validate('x')",
            "h3_validate(0L)",
        ),
        *("h3_kring(9223372036854775807, 1)", "h3_compact(array('x'))", "h3_distance('85283473fffffff', '')"),
    ],
    "H3_INVALID_RESOLUTION_VALUE": [
        *(f"h3_longlatash3(1, 2, {n})" for n in (-1, 16)),
        *(
            f"h3_{name}('POINT(1 2)', 16)"
            for name in ("pointash3", "coverash3", "try_coverash3", "tessellateaswkb")
        ),
        *(
            "h3_toparent('85283473fffffff', 6)",
            "h3_tochildren('85283473fffffff', 4)",
            "h3_maxchild('85283473fffffff', 16)",
        ),
        "h3_uncompact(array('85283473fffffff'), 4)",
    ],
    "H3_INVALID_GRID_DISTANCE_VALUE": [
        f"h3_{name}('85283473fffffff', -1)" for name in ("hexring", "kring", "kringdistances")
    ],
    "H3_PENTAGON_ENCOUNTERED_ERROR": ["h3_hexring('821c07fffffffff', 1)"],
    "H3_UNDEFINED_GRID_DISTANCE": [
        "h3_distance('8528340bfffffff', '85f05ab7fffffff')",
        "h3_distance('85283473fffffff', '86283472fffffff')",
    ],
    "UNSUPPORTED_SQL": ["st_transform(st_point(1, 2, 4326), 32632)", "st_transform(st_point(1, 2), 4326)"],
}


@pytest.mark.parametrize("condition", ERRORS)
def test_the_condition(spark: SparkSession, condition: str) -> None:
    found = {}
    for call in ERRORS[condition]:
        with pytest.raises(PySparkException) as raised:
            spark.sql(f"SELECT {call}").collect()
        found[call] = condition_of(raised.value), raised.value.getSqlState()
    state = "0A000" if condition == "UNSUPPORTED_SQL" else "22023"
    assert found == dict.fromkeys(ERRORS[condition], (condition, state))


def test_a_condition_of_a_row(spark: SparkSession) -> None:
    frame = spark.sql("SELECT st_geomfromtext(w) FROM VALUES ('POINT(1 2)'), ('POINT(1'), (NULL) AS t(w)")
    with failing("WKT_PARSE_ERROR") as raised:
        frame.repartition(2).collect()
    assert "at position 8" in str(raised.value)


@pytest.mark.parametrize("name", ["to_geometry", "to_geography"])
def test_try_gives_null(spark: SparkSession, name: str) -> None:
    invalid = ["'invalid'", "''", "X''", "X'01'", "'{}'", "'SRID=1;POINT(1 2)'", "'SRID=4326;POINT(1'"]
    row = spark.sql("SELECT " + ", ".join(f"try_{name}({text}) IS NULL" for text in invalid)).first()
    assert row is not None
    assert [text for text, null in zip(invalid, row, strict=True) if not null] == []
    for text in invalid:
        with pytest.raises(PySparkException):
            spark.sql(f"SELECT {name}({text})").collect()
