"""The stand-ins by themselves: the plugin's are put away for the test."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from lakeward import databricks_shims
from lakeward.dbutils import Environment, use_environment
from lakeward.session import Settings


@pytest.fixture
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    root = tmp_path_factory.mktemp("project")
    made = Settings.here(root, environ={"USER": "ada"})
    for folder in (made.dbfs, made.volumes, made.workspace):
        folder.mkdir(parents=True)
    return made


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No stand-in in place; afterwards the plugin's are again."""
    before = databricks_shims.is_installed()
    databricks_shims.uninstall()
    monkeypatch.delenv("LAKEWARD_DISABLE", raising=False)
    yield
    databricks_shims.uninstall()
    monkeypatch.undo()
    if before:
        databricks_shims.install()


@pytest.fixture
def installed(nothing_installed: None, settings: Settings) -> Iterator[None]:
    databricks_shims.install()
    with use_environment(Environment(settings=lambda: settings)):
        yield


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A machine that was never logged in anywhere."""
    for name in list(__import__("os").environ):
        if name.startswith(("DATABRICKS_", "ARM_", "GOOGLE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("PATH", "")
    assert "databricks.connect" not in sys.modules
