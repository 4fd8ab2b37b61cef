"""Parameters of SQL cells for which a notebook has no widget: the error names them and the option."""

from __future__ import annotations

import pytest

from tests.notebooks.conftest import Desk

CELLS = {
    "value": "SELECT :day",
    "table": "SELECT * FROM IDENTIFIER(:day)",
    "part of a table": "SELECT * FROM IDENTIFIER('main.' || :day || '.t')",
    "target": "CREATE TABLE IDENTIFIER(SCHEMA || '.' || :day) (id int)",
    "use": "USE SCHEMA IDENTIFIER(:day)",
    "drop": "DROP TABLE IF EXISTS IDENTIFIER(:day)",
}


@pytest.mark.parametrize("name", CELLS)
def test_the_error_names_the_parameter_and_the_option(desk: Desk, name: str) -> None:
    text = CELLS[name].replace("SCHEMA ||", f"'main.{desk.schema}' ||")
    finished = desk.run(desk.file("cells.sql", f"-- Databricks notebook source\n{text}\n"))
    assert finished.error is not None
    assert finished.error.condition == "UNBOUND_SQL_PARAMETER", finished.error
    assert ":day" in finished.error.message and "--param day=" in finished.error.message


def test_a_value_that_is_given_is_used(desk: Desk) -> None:
    text = "CREATE TABLE IDENTIFIER(:place || '.given') AS SELECT 1 AS id\n"
    file = desk.file("cells.sql", f"-- Databricks notebook source\n{text}")
    desk.done(file, parameters={"place": f"main.{desk.schema}"})
    assert desk.spark.table(f"main.{desk.schema}.given").count() == 1


def test_another_error_stays(desk: Desk) -> None:
    file = desk.file("cells.sql", "-- Databricks notebook source\nSELECT * FROM no_such_table\n")
    finished = desk.run(file)
    assert finished.error is not None and finished.error.condition == "TABLE_OR_VIEW_NOT_FOUND"


LINES = {
    "of a statement": (
        "SELECT 1;\n\nSELECT\n  2;\n-- next\nCREATE TABLE main.no_such_schema.t (id int);\nSELECT 3",
        6,
    ),
    "with a position": ("SELECT 1;\nSELECT *\nFROM no_such_table;\nSELECT 3", 3),
    "after a widget": (
        "CREATE WIDGET TEXT w DEFAULT 'main.no_such_schema';\ndrop schema\n  IDENTIFIER(:w)",
        2,
    ),
}


@pytest.mark.parametrize(
    "prefix", ["-- Databricks notebook source\n", "# Databricks notebook source\n# MAGIC %sql\n"]
)
@pytest.mark.parametrize("name", LINES)
def test_an_error_of_a_cell_names_the_line_of_its_statement(desk: Desk, name: str, prefix: str) -> None:
    text, line = LINES[name]
    magic = "MAGIC" in prefix
    body = "\n".join(f"# MAGIC {each}" for each in text.split("\n")) if magic else text
    finished = desk.run(desk.file("cells.py" if magic else "cells.sql", f"{prefix}{body}\n"))
    assert finished.error is not None
    assert finished.error.place.endswith(f":{line + prefix.count(chr(10))}"), finished.error
    shown = text.split("\n")[line - 1] if "position" not in name else "SELECT *"
    assert str(finished.error).endswith(f"\n    {shown}")
