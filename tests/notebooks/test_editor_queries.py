"""Queries of the SQL editor (`.dbquery.ipynb`): the catalog and the schema that are selected for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakeward.check import check
from lakeward.notebooks import parse
from tests.notebooks.conftest import Desk

Options = dict[str, Any] | None


@pytest.fixture(autouse=True)
def _keep_current_schema(request: pytest.FixtureRequest) -> Iterator[None]:
    """A query of the editor selects the schema of the session that it runs in, which other tests share."""
    if "desk" not in request.fixturenames:
        yield
        return
    spark = request.getfixturevalue("spark")
    catalog, schema = spark.catalog.currentCatalog(), spark.catalog.currentDatabase()
    yield
    spark.catalog.setCurrentCatalog(catalog)
    spark.catalog.setCurrentDatabase(schema)


def query(text: str, options: Options) -> str:
    about = {"language": "sql", "notebookMetadata": {"pythonIndentUnit": 4, "sqlQueryOptions": options}}
    return json.dumps(
        {
            "cells": [{"cell_type": "code", "source": text.splitlines(keepends=True), "outputs": []}],
            "metadata": {"application/vnd.databricks.v1+notebook": about},
        }
    )


def written(desk: Desk, text: str, options: Options, name: str = "orders.dbquery.ipynb") -> Path:
    file = desk.folder / name
    file.write_text(query(text, options))
    return file


def selected(schema: str) -> Options:
    return {"applyAutoLimit": True, "catalog": "main", "schema": schema}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (selected("s"), ("main", "s")),
        ({"catalog": "main"}, ("main",)),
        ({"catalog": "main", "schema": None}, ("main",)),
        ({"schema": "s"}, ()),
        ({}, ()),
        (None, ()),
    ],
)
def test_the_selection_is_read(options: Options, expected: tuple[str, ...]) -> None:
    notebook = parse(query("select 1", options).encode(), ".ipynb")
    assert notebook is not None and notebook.default_schema == expected


def test_tables_are_made_and_read_in_the_selected_schema(desk: Desk) -> None:
    text = "CREATE TABLE made (id int);\nINSERT INTO made VALUES (1), (2);\nSELECT * FROM made"
    desk.done(written(desk, text, selected(desk.schema)))
    assert desk.spark.table(f"main.{desk.schema}.made").count() == 2


def test_a_missing_schema_is_an_error(desk: Desk) -> None:
    finished = desk.run(written(desk, "CREATE TABLE astray (id int)", selected(f"{desk.schema}_no")))
    assert finished.error is not None and finished.error.condition == "SCHEMA_NOT_FOUND"
    assert not desk.spark.catalog.tableExists("main.default.astray")


def test_a_missing_catalog_is_an_error_that_names_it(desk: Desk) -> None:
    finished = desk.run(written(desk, "SELECT 1", {"catalog": "no_such_catalog", "schema": "s"}))
    assert finished.error is not None and finished.error.condition == "NO_SUCH_CATALOG_EXCEPTION"


@pytest.mark.parametrize("verb", ["CREATE SCHEMA IF NOT EXISTS", "-- once\ncreate database"])
def test_a_query_may_create_its_own_schema(desk: Desk, verb: str) -> None:
    name = f"{desk.schema}_own"
    text = f"{verb} main.{name};\nCREATE TABLE made AS SELECT 1 AS id"
    desk.done(written(desk, text, selected(name)))
    assert desk.spark.table(f"main.{name}.made").count() == 1


def test_a_statement_use_replaces_the_selection(desk: Desk) -> None:
    text = f"USE main.{desk.schema};\nCREATE TABLE made AS SELECT 1 AS id"
    desk.done(written(desk, text, selected(f"{desk.schema}_no")))
    assert desk.spark.table(f"main.{desk.schema}.made").count() == 1


def test_a_use_of_a_schema_is_in_the_selected_catalog(desk: Desk) -> None:
    text = f"USE SCHEMA {desk.schema};\nSELECT 1"
    desk.done(written(desk, text, {"catalog": "main", "schema": "default"}))


def test_check_names_a_catalog_and_a_schema_that_only_the_selection_names(tmp_path: Path) -> None:
    (tmp_path / "orders.dbquery.ipynb").write_text(query("SELECT 1", {"catalog": "shop", "schema": "raw"}))
    report = check(tmp_path, environ={})
    assert [each.construct for each in report.of("needs_seed")] == ["catalog shop", "schema shop.raw"]


def test_check_accepts_a_schema_that_the_query_creates(tmp_path: Path) -> None:
    text = "CREATE CATALOG IF NOT EXISTS shop; CREATE SCHEMA IF NOT EXISTS shop.raw; SELECT 1"
    (tmp_path / "orders.dbquery.ipynb").write_text(query(text, {"catalog": "shop", "schema": "raw"}))
    assert check(tmp_path, environ={}).of("needs_seed") == ()
