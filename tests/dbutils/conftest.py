"""A lakehouse in a temporary folder, and `dbutils` on it; no Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.dbutils import DBUtils, Environment
from lakeward.session import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "project").mkdir()
    made = Settings.here(tmp_path / "project", environ={"USER": "ada"})
    for folder in (made.dbfs, made.volumes, made.workspace):
        folder.mkdir(parents=True)
    return made


@pytest.fixture
def environment(settings: Settings) -> Environment:
    return Environment(settings=lambda: settings)


@pytest.fixture
def dbutils(environment: Environment) -> DBUtils:
    return DBUtils(given=environment)
