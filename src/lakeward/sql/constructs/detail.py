"""DESCRIBE DETAIL, which would show the name that the session catalog keeps a table under."""

from __future__ import annotations

from lakeward.sql.construct import BEGINNING, Construct
from lakeward.sql.cursor import Cursor
from lakeward.sql.outcome import Command, Outcome

__all__ = ["CONSTRUCTS"]


def _detail(cursor: Cursor) -> Outcome:
    cursor.one_of("DESCRIBE", "DESC")
    cursor.need("DETAIL")
    cursor.name(3)
    cursor.end()
    return Command("describe_detail", {"text": cursor.text(0)})


CONSTRUCTS = (
    Construct(
        "DESCRIBE DETAIL",
        "Tables",
        "added",
        "DESCRIBE DETAIL t",
        "Delta's own, with the table's name as users know it",
        ("DESCRIBE", "DESC"),
        _detail,
        trigger=BEGINNING + r"desc(?:ribe)?\s+detail\s+[\w`]",
        test="tests/sql/test_names.py",
    ),
)
