"""Functions that are called after an import, with several finders at work on one module."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from lakeward.patching import AfterImport

NAME = "lazy_example"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / f"{NAME}.py").write_text("ready = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    yield NAME
    sys.modules.pop(NAME, None)


def _watch(seen: list[str], what: str, position: int = 0) -> AfterImport:
    def then(module: ModuleType) -> None:
        assert module.ready
        seen.append(what)

    finder = AfterImport([NAME], then)
    sys.meta_path.insert(position, finder)
    return finder


def test_it_is_called_once_after_the_module_has_been_executed(module: str) -> None:
    seen: list[str] = []
    finder = _watch(seen, "a")
    assert seen == [] and list(finder.imported_modules()) == []
    imported = importlib.import_module(module)
    importlib.import_module(module)
    assert seen == ["a"] and list(finder.imported_modules()) == [imported]
    assert type(imported.__loader__).__name__ == "SourceFileLoader"
    assert imported.__spec__ is not None and imported.__spec__.loader is imported.__loader__


@pytest.mark.parametrize("position", [0, 1])
def test_all_finders_that_watch_a_module_are_called(module: str, position: int) -> None:
    seen: list[str] = []
    _watch(seen, "a")
    _watch(seen, "b", position)
    importlib.import_module(module)
    assert sorted(seen) == ["a", "b"]


def test_a_loader_that_is_shared_is_not_changed(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """pytest's loader of rewritten modules, for example, is one object for all of them."""
    seen: list[str] = []
    _watch(seen, "a")
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.loader is not None
    source = spec.loader.get_source(module)  # type: ignore[attr-defined]  # the loader of a file
    assert source == "ready = True\n"
    built_in = AfterImport(["errno"], lambda _: seen.append("errno"))
    sys.meta_path.insert(0, built_in)
    for _ in ("watched", "no longer watched"):
        monkeypatch.delitem(sys.modules, "errno")
        importlib.import_module("errno")
        assert seen == ["errno"]
        sys.meta_path[:] = [each for each in sys.meta_path if each is not built_in]
