"""A valid call of every function of the table, with the SQL of its arguments."""

from __future__ import annotations

from lakeward.session import geospatial_functions

POINT = "st_geomfromtext('POINT(1 2)')"
LINE = "st_geomfromtext('LINESTRING(1 2,3 4,5 7)')"
POLYGON = "st_geomfromtext('POLYGON((0 0,10 0,10 10,0 10,0 0),(2 2,3 2,3 3,2 2))')"
RING = "st_geomfromtext('LINESTRING(0 0,10 0,10 10,0 0)')"
HOLE = "st_geomfromtext('LINESTRING(2 1,3 1,3 2,2 1)')"
CELL = "'85283473fffffff'"
_OF_KIND = {
    "geo": POLYGON,
    "geometry": POLYGON,
    "text": "'POLYGON((0 0,1 0,1 1,0 0))'",
    "geometries": f"array({LINE})",
    "int": "1",
    "srid": "3857",
    "double": "0.5D",
    "boolean": "true",
    "cell": CELL,
    "cells": f"array({CELL})",
}
_OF_FUNCTION = {
    **dict.fromkeys(("h3_longlatash3", "h3_longlatash3string"), ("100.5D", "45.25D", "6")),
    **dict.fromkeys(("h3_pointash3", "h3_pointash3string"), ("'POINT(1 2)'", "6")),
    **dict.fromkeys(("h3_tochildren", "h3_maxchild", "h3_minchild"), (CELL, "6")),
    "h3_stringtoh3": (CELL,),
    "h3_uncompact": (f"array({CELL})", "6"),
    "st_addpoint": (LINE, POINT, "2"),
    "st_asewkb": (POLYGON, "'XDR'"),
    "st_aswkb": (POLYGON, "'XDR'"),
    "st_azimuth": (POINT, "st_geomfromtext('POINT(3 5)')"),
    "st_distancesphere": (POINT, "st_geomfromtext('POINT(3 5)')"),
    "st_distancespheroid": (POINT, "st_geomfromtext('POINT(3 5)')"),
    "st_endpoint": (LINE,),
    "st_geogfromewkt": ("'SRID=4326;POINT(1 2)'",),
    "st_geomfromewkb": ("X'0101000020110F000000000000000024400000000000004140'",),
    "st_geomfromewkt": ("'SRID=3857;POINT(1 2)'",),
    "st_geomfromgeohash": ("'9q8yyh'",),
    "st_linefromencodedpolyline": ("'_p~iF~ps|U_ulLnnqC_mqNvxq`@'", "5"),
    "st_m": ("st_geomfromtext('POINT M (1 2 3)')",),
    "st_makepolygon": (RING, f"array({HOLE})"),
    "st_pointfromgeohash": ("'9q8yyh'",),
    "st_pointn": (LINE, "1"),
    "st_removepoint": (LINE, "1"),
    "st_setpoint": (LINE, "1", POINT),
    "st_startpoint": (LINE,),
    "st_transform": ("st_geomfromtext('POINT(1 2)', 4326)", "3857"),
    "st_x": (POINT,),
    "st_y": (POINT,),
    "st_z": ("st_geomfromtext('POINT Z (1 2 3)')",),
    "st_zmax": ("st_geomfromtext('LINESTRING Z (1 2 3,4 5 6)')",),
    "st_zmin": ("st_geomfromtext('LINESTRING Z (1 2 3,4 5 6)')",),
    **dict.fromkeys(
        ("st_geogfromgeojson", "st_geomfromgeojson"), ("""'{"type":"Point","coordinates":[1,2]}'""",)
    ),
    **dict.fromkeys(("st_geogfromtext", "st_geogfromwkt"), ("'POINT(1 2)'",)),
    **dict.fromkeys(("st_geomfromtext", "st_geomfromwkt"), ("'POINT(1 2)'", "3857")),
}
CALLS = {
    function.name: _OF_FUNCTION.get(function.name) or tuple(_OF_KIND[kind] for kind in function.arguments)
    for function in geospatial_functions()
}
"""The name of each function, with all its arguments."""
FUNCTIONS = {function.name: function for function in geospatial_functions()}
AGGREGATES = {"st_envelope_agg", "st_union_agg"}
