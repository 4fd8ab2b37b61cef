"""A debugger stops in cells, at the file and line that an editor shows (docs/editors.md)."""

from __future__ import annotations

from tests.breakpoints import Breakpoints
from tests.notebooks.conftest import Desk


def test_breakpoints_in_cells_and_in_their_functions_are_met(desk: Desk) -> None:
    notebook = desk.file("explore.py", """\
        # Databricks notebook source
        start = 1

        # COMMAND ----------

        def add(number):
            total = number + start
            return total

        # COMMAND ----------

        # MAGIC %sql
        # MAGIC SELECT 1

        # COMMAND ----------

        end = add(41)
    """)  # fmt: skip
    with Breakpoints((notebook, "return total"), (notebook, "end = add")) as debugger:
        desk.done(notebook)
    assert [(file, line) for file, line, _ in debugger.stops] == [("explore.py", 17), ("explore.py", 8)]
    assert debugger.stops[1][2]["total"] == 42
