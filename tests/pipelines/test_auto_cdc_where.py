"""`where` of AUTO CDC filters the rows of the source, in every spelling that takes it."""

from __future__ import annotations

import logging

import pytest

from tests.pipelines.conftest import Lab
from tests.pipelines.test_auto_cdc import values

# One delete has another city and is filtered out; a NULL condition does not hold.
EVENTS = [
    (1, 1, "INSERT", "Ann", "Rome"),
    (1, 2, "UPDATE", "Anna", "Rome"),
    (1, 3, "DELETE", "Anna", "Oslo"),
    (2, 1, "INSERT", "Bob", "Oslo"),
    (3, 1, "INSERT", "Cid", None),
    (4, 1, "INSERT", "Dee", "Rome"),
    (4, 2, "DELETE", "Dee", "Rome"),
]
PYTHON = """
import dlt
from pyspark import pipelines as dp
from pyspark.sql.functions import expr

common = dict(
    source="SRC.feed", keys=["id"], sequence_by="seq", apply_as_deletes="op = 'DELETE'",
    except_column_list=["op", "seq", "city"],
)
for label, function, where, more in (
    ("text", dp.create_auto_cdc_flow, "{where}", {{}}),
    ("column", dlt.apply_changes, expr("{where}"), {{}}),
    ("once", dp.create_auto_cdc_flow, "{where}", {{"once": True}}),
):
    dp.create_streaming_table(label)
    function(target=label, where=where, **common, **more)
"""
CLAUSES = """FROM STREAM(SRC.feed) KEYS (id) WHERE {where} APPLY AS DELETE WHEN op = 'DELETE'
SEQUENCE BY seq COLUMNS * EXCEPT (op, seq, city)"""
SQL = (
    "CREATE STREAMING TABLE changes; APPLY CHANGES INTO LIVE.changes " + CLAUSES,
    "CREATE STREAMING TABLE flow; CREATE FLOW f AS AUTO CDC INTO flow " + CLAUSES,
    "CREATE STREAMING TABLE inline FLOW AUTO CDC " + CLAUSES,
)
FLOWS = ("text", "column", "once", "changes", "f", "inline")


def write(lab: Lab, where: str) -> None:
    lab.seed("feed", values(EVENTS))
    lab.file("cdc.py", PYTHON.format(where=where))
    lab.file("cdc.sql", ";\n".join(SQL).format(where=where))


def test_where_filters_the_source(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    write(lab, "city = 'Rome'")
    with caplog.at_level(logging.WARNING, logger="lakeward.pipelines"):
        lab.done(refresh=["column", "changes"])
    assert lab.rows("column") == [(1, "Anna")]
    assert lab.rows("changes") == [(1, "Anna")]
    warned = [record.getMessage() for record in caplog.records]
    assert len([text for text in warned if "where=" in text and "skipped" in text]) == len(FLOWS)


def test_where_of_every_spelling_is_resolved_against_the_source(lab: Lab) -> None:
    write(lab, "town = 'Rome'")
    update = lab.run(dry_run=True)
    assert update.state == "FAILED"
    errors = str(update.error)
    assert errors.count("[UNRESOLVED_COLUMN") == len(FLOWS) and errors.count("`town`") >= len(FLOWS)
