"""A missing table that files of the repository create: the error names the files and the commands."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from pathlib import Path

import pytest

from lakeward.check import table_creation
from lakeward.hints.missing_inputs import hints_of
from lakeward.session import Settings
from tests.cli.inside import Inside
from tests.trees import write_files

MODEL = "the dbt model `orders`; run its project first: `lakeward dbt build --project-dir shop`."
DDL = "CREATE TABLE {} (id INT);\nINSERT INTO {} VALUES (1);\n"
PIPELINE = "from pyspark import pipelines as dp\n\n\n@dp.table\ndef orders():\n    return spark.range(1)\n"
OPTIONS = " --catalog shop --schema raw"
CELLS = {
    "cells": [
        {"cell_type": "code", "source": "%sql\nCREATE TABLE orders (id INT)", "metadata": {}, "outputs": []}
    ],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 0,
}
# A file of the repository, and what the hint says about the table shop.raw.orders.
CREATORS: Mapping[str, tuple[str, str, str | None]] = {
    "sql": (
        *("ddl/o.sql", DDL.format("orders", "orders")),
        f"ddl/o.sql:1 creates `orders`; run it first: `lakeward sql{OPTIONS} -f ddl/o.sql`.",
    ),
    "sql with the whole name": (
        *("o.sql", "-- first\n" + DDL.format("Shop.raw.`Orders`", "shop.raw.orders")),
        "o.sql:2 creates `orders`; run it first: `lakeward sql -f o.sql`.",
    ),
    "sql that enters a schema": (
        *("o.sql", "USE shop.raw;\n" + DDL.format("orders", "orders")),
        "o.sql:2 creates `orders`; run it first: `lakeward sql -f o.sql`.",
    ),
    "a blank in the path": (
        *("my ddl/o.sql", DDL.format("orders", "orders")),
        f"my ddl/o.sql:1 creates `orders`; run it first: `lakeward sql{OPTIONS} -f 'my ddl/o.sql'`.",
    ),
    "notebook of cells": (
        *("setup.ipynb", json.dumps(CELLS)),
        f"setup.ipynb#1:2 creates `orders`; run it first: `lakeward notebook setup.ipynb{OPTIONS}`.",
    ),
    "sql notebook": (
        *("setup.sql", "-- Databricks notebook source\n" + DDL.format("orders", "orders")),
        f"setup.sql:2 creates `orders`; run it first: `lakeward notebook setup.sql{OPTIONS}`.",
    ),
    "python notebook": (
        "setup.py",
        '# Databricks notebook source\nspark.range(1).write.saveAsTable("shop.raw.orders")\n',
        "setup.py:2 creates `orders`; run it first: `lakeward notebook setup.py`.",
    ),
    "python": (
        *("load.py", 'def load(spark):\n    spark.range(1).write.saveAsTable("raw.orders")\n'),
        "load.py:2 creates `orders`; run it first.",
    ),
    "dataset": (
        *("orders.py", PIPELINE),
        "orders.py:5 declares `orders`: run its pipeline, or the file in a job, first.",
    ),
    "sql dataset": (
        *("gold.sql", "CREATE OR REFRESH MATERIALIZED VIEW orders AS SELECT 1 AS id"),
        "gold.sql:1 declares `orders`: run its pipeline, or the file in a job, first.",
    ),
    "dbt model": (
        *("shop/models/gold/orders.sql", "{{ config(materialized='table') }} SELECT 1 AS id"),
        f"shop/models/gold/orders.sql:1 is {MODEL}",
    ),
    "dbt snapshot": (
        *("shop/snapshots/orders.sql", "{% snapshot orders %} SELECT 1 AS id {% endsnapshot %}"),
        f"shop/snapshots/orders.sql:1 is {MODEL}",
    ),
    "no dbt project": ("lab/models/orders.sql", "SELECT 1 AS id", None),
    "a temporary view": ("o.sql", "CREATE OR REPLACE TEMP VIEW orders AS SELECT 1 AS id", None),
    "a temporary view of a frame": ("o.py", 'spark.range(1).createOrReplaceTempView("orders")\n', None),
    "a query": ("o.py", 'spark.readStream.load().writeStream.queryName("orders").start()\n', None),
    "another schema": ("o.sql", DDL.format("shop.gold.orders", "shop.gold.orders"), None),
    "another table": ("o.sql", DDL.format("orders_old", "orders_old"), None),
    "a read": ("o.sql", "SELECT * FROM orders", None),
    "a test": ("tests/test_o.py", 'spark.range(1).write.saveAsTable("raw.orders")\n', None),
    "no python": ("o.py", "orders = (\n", None),
    "no utf-8": ("o.sql", "CREATE TABLE orders (\udcff INT)", None),
}
ERRORS = {
    "statement": "[TABLE_OR_VIEW_NOT_FOUND] The table or view `shop`.`raw`.`orders` cannot be found.",
    "short name": (
        "[TABLE_OR_VIEW_NOT_FOUND] The table or view `orders` cannot be found. Verify …\n"
        "Search path: [`system`.`builtin`, `system`.`session`, `shop`.`raw`]."
    ),
    "pipeline": (
        "[TABLE_OR_VIEW_NOT_FOUND] gold.py:3: `shop.raw.orders` is neither a dataset of this pipeline nor a "
        "table."
    ),
}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    return Settings(root=tmp_path, home=tmp_path / ".lakeward", target="local")


def sources_named(text: str, settings: Settings) -> list[str]:
    return [hint for hint in hints_of(text, settings) if "run it" in hint]


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("creator", CREATORS)
def test_the_file_that_creates_a_missing_table_is_named(creator: str, error: str, settings: Settings) -> None:
    name, content, hint = CREATORS[creator]
    file = settings.root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    (settings.root / "shop").mkdir(exist_ok=True)
    (settings.root / "shop/dbt_project.yml").write_text("name: shop\n")
    file.write_bytes(content.encode(errors="surrogateescape"))
    # A dataset is often called as the table that its pipeline reads.
    expected = [] if hint is None or ("dataset" in creator and error == "pipeline") else [hint]
    assert sources_named(ERRORS[error], settings) == expected


def test_tables_of_one_file_are_one_sentence_and_files_with_fewer_of_them_are_left_out(
    settings: Settings,
) -> None:
    write_files(
        settings.root,
        {
            "a.sql": DDL.format("orders", "orders"),
            "b.sql": DDL.format("orders", "orders") + DDL.format("items", "items"),
        },
    )
    text = ERRORS["pipeline"] + "\n" + ERRORS["pipeline"].replace("orders", "items")
    assert sources_named(text, settings) == [
        f"b.sql:1 creates `orders`, `items`; run it first: `lakeward sql{OPTIONS} -f b.sql`."
    ]


def test_the_command_has_the_target_and_a_path_from_the_working_folder(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(settings.root, {"ddl/o.sql": DDL.format("orders", "orders"), "src/gold.py": ""})
    monkeypatch.chdir(settings.root / "src")
    found = sources_named(ERRORS["statement"], settings.with_(target="dev"))
    command = f"lakeward sql -t dev{OPTIONS} -f ../ddl/o.sql"
    assert found == [f"../ddl/o.sql:1 creates `orders`; run it first: `{command}`."]


def test_a_file_that_the_error_names_was_run(settings: Settings) -> None:
    write_files(settings.root, {"o.sql": DDL.format("orders", "orders")})
    assert sources_named(ERRORS["statement"] + " o.sql:1", settings) == []


@pytest.mark.parametrize(("most", "is_found"), [(2, False), (3, True)])
def test_a_folder_with_very_many_files_is_searched_in_part(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, most: int, is_found: bool
) -> None:
    monkeypatch.setattr(table_creation, "_MOST_ENTRIES", most)
    write_files(settings.root, {"a/b.txt": "", "o.sql": DDL.format("orders", "orders")})
    assert bool(sources_named(ERRORS["statement"], settings)) == is_found


CREATE = "CREATE TABLE NAME AS SELECT 7 AS id"
CELL = {**CELLS["cells"][0], "source": "%sql\n" + CREATE}  # type: ignore[dict-item]
QUERY = {"language": "sql", "notebookMetadata": {"sqlQueryOptions": {"catalog": "main", "schema": "default"}}}
# How a command gets a statement with a short name: arguments, and the file that they name.
COMMANDS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "statement": (("sql", "-e", CREATE), ""),
    "file.sql": (("sql", "-f", "file.sql"), CREATE),
    "source.sql": (("notebook", "source.sql"), "-- Databricks notebook source\n" + CREATE),
    "source.py": (("notebook", "source.py"), f'# Databricks notebook source\nspark.sql("{CREATE}")\n'),
    "cells.ipynb": (("notebook", "cells.ipynb"), json.dumps({**CELLS, "cells": [CELL]})),
    # The catalog and the schema that are selected in it are not those of the options.
    "editor.dbquery.ipynb": (
        ("notebook", "editor.dbquery.ipynb"),
        json.dumps(
            {
                **CELLS,
                "cells": [{**CELL, "source": CREATE}],
                "metadata": {"application/vnd.databricks.v1+notebook": QUERY},
            }
        ),
    ),
}
PLACES = {
    ("--catalog", "given", "--schema", "raw"): "given.raw",
    ("--catalog", "given"): "given.default",
    ("--schema", "raw"): "main.raw",
}


@pytest.mark.parametrize("place", PLACES, ids=" ".join)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_begins_in_the_catalog_and_schema_that_are_given(
    inside: Inside, command: str, place: tuple[str, ...]
) -> None:
    """They are created, as the hint about a missing table needs them."""
    table = f"t_{uuid.uuid4().hex}"
    arguments, content = COMMANDS[command]
    write_files(inside.folder, {command: content.replace("NAME", table)})
    done = inside(*(each.replace("NAME", table) for each in arguments), *place)
    assert done.returncode == 0, done.stderr
    read = inside("sql", "--format", "csv", "-e", f"SELECT id FROM {PLACES[place]}.{table}")
    assert read.stdout.split() == ["id", "7"]


@pytest.mark.parametrize("name", ["", "a.b", "a/b", "a b"])
def test_what_is_no_name_of_a_schema_is_refused(inside: Inside, name: str) -> None:
    done = inside("sql", "-e", "select 1", "--schema", name)
    assert done.returncode == 2
    assert "is not a name" in done.stderr
