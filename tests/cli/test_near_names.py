"""Errors about names that are not there suggest those that are."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.databricks_shims import NAMES
from lakeward.error_formatting import describe_error
from lakeward.hints.missing_inputs import hints_of
from lakeward.hints.near_names import import_hint, setting_hint
from lakeward.session import Settings
from tests.cli.inside import Inside

NOT_FOUND = "The table or view {} cannot be found. Verify the spelling. SQLSTATE: 42P01"
PLACES = (
    "[TABLE_OR_VIEW_NOT_FOUND] ",
    "[TABLE_OR_VIEW_NOT_FOUND] cell 2, /a b/check.ipynb#cell-2:2: ",
    "[NOTEBOOK_FAILED] [TABLE_OR_VIEW_NOT_FOUND] cell 1, /a/n.py:3: ",
    "[TABLE_OR_VIEW_NOT_FOUND] /a/p.sql:3:14: ",
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    found = Settings.here(tmp_path, environ={})
    for table in ("main/default/orders", "main/shop/orders", "main/shop/customers"):
        (found.warehouse / table / "_delta_log").mkdir(parents=True)
    (found.warehouse / "main/shop/parts").mkdir()
    (found.warehouse / "main/shop/.dropped-1/_delta_log").mkdir(parents=True)
    definitions = found.warehouse / "main/shop/.objects"
    definitions.mkdir()
    for file in ("revenue.view.json", "stocks.table.json", "orders.table.about.json", "stale.function.json"):
        (definitions / file).write_text("{}")
    (found.volumes / "main/shop/landing").mkdir(parents=True)
    return found


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("`main`.`shop`.`ordrs`", "Did you mean `main.shop.orders`?"),
        ("`MAIN`.`Shop`.`Ordrs`", "Did you mean `MAIN.Shop.orders`?"),
        ("`ordrs`", "Did you mean `main.default.orders`?"),
        ("`shop`.`custmers`", "Did you mean `main.shop.customers`?"),
        ("`customers`", "A table of this name is in another schema: `main.shop.customers`. If main.default."),
        (
            "`prod`.`x`.`orders`",
            "A table of this name is in another schema: `main.default.orders`, `main.shop.orders`. If prod",
        ),
        ("`prod`.`x`.`weather`", "If prod.x.weather is a table of your workspace"),
        ("`parts`", "If main.default.parts is a table of your workspace"),
        ("`stale`", "If main.default.stale is a table of your workspace"),
        ("`main`.`shop`.`revenues`", "Did you mean `main.shop.revenue`?"),
        ("`main`.`shop`.`stock`", "Did you mean `main.shop.stocks`?"),
        ("`revenue`", "A table of this name is in another schema: `main.shop.revenue`. If main.default."),
        ("`stocks`", "A table of this name is in another schema: `main.shop.stocks`. If main.default."),
    ],
)
def test_a_missing_table_is_looked_for_in_the_lakehouse(
    settings: Settings, place: str, name: str, advice: str
) -> None:
    (hint,) = hints_of(place + NOT_FOUND.format(name), settings)
    assert hint.startswith(advice)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("`ordrs`", "Did you mean `main.shop.orders`?"),
        ("`weather`", "If main.shop.weather is a table of your workspace"),
        ("`default`.`ordrs`", "Did you mean `main.default.orders`?"),
        ("`prod`.`x`.`weather`", "If prod.x.weather is a table of your workspace"),
    ],
)
def test_a_missing_table_is_completed_with_the_schema_that_was_current(
    settings: Settings, name: str, advice: str
) -> None:
    path = "\nSearch path: [`system`.`builtin`, `system`.`session`, `main`.`shop`].\nIf you did not qualify …"
    (hint,) = hints_of(f"[TABLE_OR_VIEW_NOT_FOUND] {NOT_FOUND.format(name)}{path}", settings)
    assert hint.startswith(advice)


@pytest.mark.parametrize("rest", [" Did you mean `base`?", " `lakeward seed prod.x.weather --from FILE`"])
def test_an_error_with_advice_gets_no_second_one(settings: Settings, rest: str) -> None:
    assert hints_of(PLACES[0] + NOT_FOUND.format("`prod`.`x`.`weather`") + rest, settings) == []


@pytest.mark.parametrize("path", ["/Volumes/main/shop/{}", "dbfs:/Volumes/main/shop/{}/a.csv"])
@pytest.mark.parametrize(
    "error",
    [
        "[PATH_NOT_FOUND] Path does not exist: {}.",
        "[CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE] Cannot infer schema when the input path {} is empty.",
        "No such file or directory: '{}'",
    ],
)
def test_a_missing_volume_is_looked_for_in_its_schema(settings: Settings, path: str, error: str) -> None:
    near = hints_of(error.format(path.format("landng")), settings)
    assert near == ["Did you mean /Volumes/main/shop/landing?"]
    for other in ("landing", "other"):
        (hint,) = hints_of(error.format(path.format(other)), settings)
        assert "--mount" in hint


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("F", "from pyspark.sql import functions as F"),
        ("Window", "from pyspark.sql import Window"),
        ("lit", "from pyspark.sql.functions import lit"),
        ("StructType", "from pyspark.sql.types import StructType"),
        ("dlt", "import dlt"),
        ("time", "import time"),
        ("json", "import json"),
    ],
)
def test_a_name_of_a_usual_import_is_completed(name: str, line: str) -> None:
    assert import_hint(f"[NameError] cell 2, a.py:6: name '{name}' is not defined") == f"Import it: `{line}`."
    assert import_hint(f"AttributeError: {name}") is None


def test_a_module_of_python_is_no_typo_of_another_name() -> None:
    with pytest.raises(NameError) as raised:
        exec("from pyspark.sql.types import *\ntime.time()", {})
    assert str(describe_error(raised.value)) == "NameError: name 'time' is not defined"


@pytest.mark.parametrize("name", ["spark", "sc", "sqlContext", "dbutils", "display", "displayHTML"])
def test_a_name_of_the_platform_in_a_module_is_imported_from_its_runtime(name: str) -> None:
    with pytest.raises(NameError) as raised:
        exec(name, {})
    text = str(describe_error(raised.value))
    assert text == f"NameError: name '{name}' is not defined", "no similar builtin"
    assert f"`from databricks.sdk.runtime import {name}`" in (import_hint(text) or "")
    assert name in NAMES


def test_settings_of_spark_are_not_settings_of_the_pipeline() -> None:
    text = '[SQL_CONF_NOT_FOUND] /a.py:4: The SQL config "{}" cannot be found.'
    assert "--conf a.b=VALUE" in str(setting_hint(text.format("a.b")))
    assert setting_hint(text.format("spark.sql.x")) is None


def test_commands_suggest_them(inside: Inside) -> None:
    made = inside("sql", "-e", "create schema main.shop", "-e", "create table main.shop.orders as select 1 a")
    assert made.returncode == 0, made.stderr
    made = inside("sql", "-e", "create view main.shop.totals as select count(*) n from main.shop.orders")
    assert made.returncode == 0, made.stderr
    ran = inside("sql", "-e", "select * from totals")
    assert "A table of this name is in another schema: `main.shop.totals`." in ran.stderr
    other = "A table of this name is in another schema: `main.shop.orders`."
    for line in ("spark.table('main.default.orders')", "# MAGIC %sql select * from orders"):
        (inside.folder / "n.py").write_text(f"# Databricks notebook source\n{line}\n")
        ran = inside("notebook", "n.py")
        assert (ran.returncode, ran.stderr.count(other)) == (1, 1), ran.stderr
    ran = inside("sql", "-e", "select * from orders")
    assert (ran.returncode, ran.stderr.count(other)) == (1, 1), ran.stderr


@pytest.mark.parametrize("given", ["./lod", "lod", "../jobs/lod", "lod.py"])
def test_a_notebook_that_run_does_not_find_is_looked_for(inside: Inside, given: str) -> None:
    (inside.folder / "jobs").mkdir()
    (inside.folder / "jobs/load.py").write_text("# Databricks notebook source\n")
    (inside.folder / "jobs/n.py").write_text(f"# Databricks notebook source\n# MAGIC %run {given}\n")
    ran = inside("notebook", "jobs/n.py")
    assert f"Did you mean {given.replace('lod', 'load')}?" in ran.stderr
