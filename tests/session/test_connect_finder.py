"""`databricks.connect` where it is not installed, and only there."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from lakeward.session import on_databricks
from lakeward.session.patches import connect_finder


@pytest.fixture
def served() -> Iterator[None]:
    there_before = connect_finder._finder in sys.meta_path
    connect_finder.install()
    yield
    connect_finder.uninstall()
    if there_before:
        connect_finder.install()


@pytest.mark.usefixtures("served")
def test_the_stand_in_is_importable_and_fools_no_check() -> None:
    module = importlib.import_module("databricks.connect")
    assert module.DatabricksSession.__module__.startswith("lakeward.")
    assert importlib.util.find_spec("databricks.connect") is not None
    assert not connect_finder.connect_is_installed()
    assert not on_databricks({})


@pytest.mark.usefixtures("served")
def test_the_true_package_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "databricks/connect").mkdir(parents=True)
    (tmp_path / "databricks/connect/__init__.py").write_text("true_one = True\n")
    for name in [name for name in sys.modules if name.partition(".")[0] == "databricks"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    importlib.invalidate_caches()
    assert importlib.import_module("databricks.connect").true_one
    assert connect_finder.connect_is_installed()
    for name in ("databricks.connect", "databricks"):
        del sys.modules[name]


@pytest.mark.usefixtures("served")
def test_a_tests_own_mock_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    mock = MagicMock()
    monkeypatch.setitem(sys.modules, "databricks.connect", mock)
    assert importlib.import_module("databricks.connect") is mock
    assert not connect_finder.connect_is_installed()


@pytest.mark.usefixtures("served")
def test_it_is_there_without_any_package_of_the_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "databricks"]:
        monkeypatch.delitem(sys.modules, name)
    own = [entry for entry in sys.path if (Path(entry) / "lakeward").is_dir()]
    monkeypatch.setattr(sys, "path", own)
    monkeypatch.setattr(sys, "path_importer_cache", {})
    assert importlib.import_module("databricks.connect.session").DatabricksSession
    for name in ("databricks.connect.session", "databricks.connect", "databricks"):
        del sys.modules[name]


def test_it_is_gone_when_taken_back() -> None:
    there_before = connect_finder._finder in sys.meta_path
    connect_finder.install()
    importlib.import_module("databricks.connect")
    connect_finder.uninstall()
    assert "databricks.connect" not in sys.modules
    assert connect_finder._finder not in sys.meta_path
    if there_before:
        connect_finder.install()


@pytest.mark.usefixtures("served")
def test_every_way_to_name_compute_is_taken() -> None:
    from lakeward.session.entry_points.databricks_connect import DatabricksSession

    config = type("Config", (), {"serverless_compute_id": None, "cluster_id": "1-2-3"})()
    builder = DatabricksSession.builder.serverless()
    assert builder._serverless
    assert not builder.sdkConfig(config)._serverless
    assert builder.remote(serverless=True)._serverless
    assert not builder.clusterId("1")._serverless
    same = builder.host("h").token("t").profile("p").headers({}).validateSession(True).userAgent("u")
    assert same is builder
    assert DatabricksSession.builder is not DatabricksSession.builder
