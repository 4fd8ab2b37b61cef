"""Views with geospatial functions are refreshed incrementally, as those with other functions of SQL."""

from __future__ import annotations

from collections import Counter

from tests.pipelines.conftest import Lab
from tests.pipelines.incremental import planned, sql_views

QUERIES = {
    "near": "SELECT id, h3_longlatash3string(id, g, 4) AS cell, st_aswkb(st_point(id, g)) AS place "
    "FROM {a} WHERE st_dwithin(st_point(id, g), st_point(0, 0), 6)",
    "cells": "SELECT h3_longlatash3(g, g, 2) AS cell, count(*) AS n "
    "FROM {a} GROUP BY h3_longlatash3(g, g, 2)",
    "areas": "SELECT g, st_astext(st_envelope_agg(st_point(id, g))) AS area FROM {a} GROUP BY g",
}


def techniques(lab: Lab) -> dict[str, str]:
    """Run an update, and return the techniques of views that have exactly the rows of their queries."""
    found = {name: plan.chosen for name, plan in planned(lab, lab.done()).items()}
    for name, query in QUERIES.items():
        wanted = lab.spark.sql(query.format(a=f"main.{lab.source}.a")).collect()
        assert Counter(map(repr, lab.table(name).collect())) == Counter(map(repr, wanted)), name
    return found


def test_views_with_geospatial_functions(lab: Lab) -> None:
    lab.seed("a", "SELECT id, CAST(id % 3 AS INT) AS g FROM range(9)")
    table = f"main.{lab.source}.a"
    views = sql_views({name: query.format(a=table) for name, query in QUERIES.items()})
    lab.file("views.sql", views)
    techniques(lab)
    lab.spark.sql(f"INSERT INTO {table} VALUES (3, 1), (40, 2)")
    used = techniques(lab)
    assert (used["near"], used["cells"]) == ("APPEND_ONLY", "GROUP_AGGREGATE")
    lab.spark.sql(f"UPDATE {table} SET g = 1 WHERE id = 2")
    used = techniques(lab)
    assert (used["near"], used["cells"]) == ("ROW_BASED", "GROUP_AGGREGATE")
    # The functions are the platform's: no code of the user's that may give other rows than before.
    lab.file("views.sql", views.replace("SELECT ", "SELECT  "))
    assert set(techniques(lab).values()) == {"NO_OP"}
