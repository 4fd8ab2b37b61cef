"""Acting at the first import of a module, and not before."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from lakeward.testing.import_watch import OnImport


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "lazy_example.py").write_text("ready = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "lazy_example", raising=False)
    return "lazy_example"


def test_it_is_called_once_after_the_module_has_been_executed(module: str) -> None:
    seen: list[bool] = []
    watch = OnImport(module, lambda: seen.append(sys.modules[module].ready))
    watch.install()
    assert seen == []
    imported = importlib.import_module(module)
    importlib.import_module(module)
    assert seen == [True]
    assert watch not in sys.meta_path
    assert type(imported.__loader__).__name__ == "SourceFileLoader"


def test_it_is_called_at_once_when_the_module_is_there_already(module: str) -> None:
    importlib.import_module(module)
    seen: list[bool] = []
    OnImport(module, lambda: seen.append(True)).install()
    assert seen == [True]


def test_it_can_be_taken_back(module: str) -> None:
    seen: list[bool] = []
    watch = OnImport(module, lambda: seen.append(True))
    watch.install()
    watch.uninstall()
    importlib.import_module(module)
    assert seen == []
