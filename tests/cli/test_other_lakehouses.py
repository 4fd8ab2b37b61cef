"""Errors about what another lakehouse of the folder has name its target."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.hints.missing_inputs import hints_of, other_lakehouse_hint
from lakeward.session import Settings
from tests.trees import write_files

FILES = {
    "dev/volumes/shop/raw/in/orders/a.csv": "a",
    "dev/warehouse/shop/gold/sales/_delta_log/0.json": "{}",
    "local/warehouse/lab/bronze/rows/_delta_log/0.json": "{}",
}
# What is missing, and the target that has it.
ERRORS = {
    "[PATH_NOT_FOUND] Path does not exist: dbfs:/Volumes/shop/raw/in/orders.": (
        "/Volumes/shop/raw/in",
        "dev",
    ),
    "[Errno 2] No such file or directory: '/Volumes/Shop/raw/in/b.yml'": ("/Volumes/Shop/raw/in", "dev"),
    "[CF_PATH_DOES_NOT_EXIST_FOR_READ_FILES] /Volumes/shop/raw/in": ("/Volumes/shop/raw/in", "dev"),
    "[CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE] The input path dbfs:/Volumes/shop/raw/in is empty.": (
        "/Volumes/shop/raw/in",
        "dev",
    ),
    "[TABLE_OR_VIEW_NOT_FOUND] The table or view `shop`.`gold`.`Sales` cannot be found.": (
        "shop.gold.Sales",
        "dev",
    ),
    "[TABLE_OR_VIEW_NOT_FOUND] p.py: `shop.gold.sales` is neither a dataset of this pipeline nor a table.": (
        "shop.gold.sales",
        "dev",
    ),
    "[SCHEMA_NOT_FOUND] The schema `shop`.`gold` cannot be found.": ("The schema shop.gold", "dev"),
    "[NO_SUCH_CATALOG_EXCEPTION] Catalog 'shop' was not found.": ("The catalog shop", "dev"),
    "[TABLE_OR_VIEW_NOT_FOUND] The table or view `lab`.`bronze`.`rows` cannot be found.": (
        "lab.bronze.rows",
        "local",
    ),
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    write_files(tmp_path, FILES)
    return Settings(root=tmp_path, home=tmp_path, target="prod")


@pytest.mark.parametrize("error", ERRORS)
def test_what_another_lakehouse_has_is_named_with_its_target(error: str, settings: Settings) -> None:
    shown, target = ERRORS[error]
    hint = other_lakehouse_hint(error, settings)
    assert hint is not None
    assert hint.startswith(f"{shown} is in the lakehouse `{target}` of this folder")
    cure = "`-t dev`" if target == "dev" else "repeat the one that made it with `-t prod`"
    assert cure in hint
    assert [each for each in hints_of(error, settings) if "--mount" in each or "CREATE" in each] == []
    assert hint in hints_of(error, settings)
    if target == "dev":
        # Its own lakehouse has it.
        own = Settings(root=settings.root, home=settings.home, target="dev")
        assert other_lakehouse_hint(error, own) is None


@pytest.mark.parametrize(
    "error",
    [
        "[DIVIDE_BY_ZERO] /Volumes/shop/raw/in/a.py: Division by zero.",
        "[PATH_NOT_FOUND] Path does not exist: dbfs:/Volumes/shop/raw/other.",
        "[TABLE_OR_VIEW_NOT_FOUND] The table or view `sales` cannot be found.",
        "[TABLE_OR_VIEW_NOT_FOUND] The table or view `shop`.`gold`.`none` cannot be found.",
        "[SCHEMA_NOT_FOUND] The schema `shop`.`none` cannot be found.",
        "[NO_SUCH_CATALOG_EXCEPTION] Catalog 'none' was not found.",
    ],
)
def test_other_errors_name_no_lakehouse(error: str, settings: Settings, tmp_path: Path) -> None:
    assert other_lakehouse_hint(error, settings) is None
    empty = Settings(root=tmp_path, home=tmp_path / "none")
    assert other_lakehouse_hint(error, empty) is None
