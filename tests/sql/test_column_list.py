"""The items of a column list: a comma within a type or an expression separates none."""

from __future__ import annotations

import pytest

from lakeward.sql import rewrite, tokenize
from lakeward.sql.constructs.column_list import column_list_items
from lakeward.sql.constructs.create_table import CreateTable

TYPES = (
    "INT",
    "DECIMAL(8, 2)",
    "MAP<STRING, INT>",
    "STRUCT<x: INT, y: INT>",
    "MAP<STRING, ARRAY<STRUCT<x: INT, y: DECIMAL(8, 2)>>>",
    "INT DEFAULT 1 > 0",
    "BOOLEAN GENERATED ALWAYS AS (z < 1)",
)


@pytest.mark.parametrize("of_first", TYPES)
@pytest.mark.parametrize("of_second", TYPES)
def test_a_comma_within_a_type_or_an_expression_separates_no_columns(of_first: str, of_second: str) -> None:
    text = f"CREATE TABLE t (a {of_first}, b {of_second}, z INT) COMMENT 'x'"
    items = list(column_list_items(tokenize(text) or ()))
    assert [item[0].text for item in items] == ["a", "b", "z"]


@pytest.mark.parametrize("of_column", TYPES)
@pytest.mark.parametrize(
    ("clause", "of_key"),
    [("PRIMARY KEY", "PRIMARY KEY"), ("REFERENCES u (x)", "FOREIGN KEY"), ("UNIQUE", "UNIQUE")],
)
def test_keys_and_masks_belong_to_the_column_that_declares_them(
    of_column: str, clause: str, of_key: str
) -> None:
    created = rewrite(f"CREATE TABLE t (a {of_column} MASK f, b {of_column} {clause})")
    assert isinstance(created, CreateTable)
    assert list(created.masks) == ["a"]
    assert [(key.type, key.columns) for key in created.keys] == [(of_key, ["b"])]
    kept = f"{of_column} NOT NULL" if of_key == "PRIMARY KEY" else of_column
    assert created.text.replace(" ", "") == f"CREATE TABLE t (a {of_column}, b {kept})".replace(" ", "")
