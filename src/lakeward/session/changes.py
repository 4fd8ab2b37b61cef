"""The whole list of changes to other people's code, without a session: made, listed and taken back."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from lakeward.session import patches
from lakeward.session.patches import Patch

__all__ = ["every_change"]

# Who changes something, and who takes it back where that is more than the patches themselves:
# "module:function", named instead of imported, since dependencies point the other way.
_MAKERS: tuple[tuple[str, str | None], ...] = (
    ("lakeward.session.hooks:install_builder_hook", "lakeward.session.hooks:uninstall_builder_hook"),
    ("lakeward.session.refusals:install", None),
    ("lakeward.session.delta_names:install", None),
    ("lakeward.session.numpy_arguments:install", None),
    ("lakeward.session.spark_version:install", None),
    ("lakeward.session.changes:_paths", "lakeward.session.python_paths:uninstall"),
    ("lakeward.standins:install", "lakeward.standins:uninstall"),
    ("lakeward.autoloader.hooks:patch", None),
    ("lakeward.streaming:patch", None),
    ("lakeward.seeds.missing:patch", None),
    ("lakeward.pipelines.modules:serving", None),
    ("lakeward.pipelines.reads:intercepting", None),
)
# Changed once somebody imports them, so they have to be imported to be on the list.
_LATER = ("databricks.sdk", "pyarrow.dataset", "pyarrow.parquet", "pyarrow.orc", "pyarrow.feather")


def every_change() -> list[Patch]:
    """All changes that any room makes, in the order of their reasons; afterwards all is as before.

    PySpark is imported, no JVM is started. With LAKEWARD_DISABLE=1 and on Databricks there are fewer.
    """
    for name in _LATER:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    with ExitStack() as stack:
        stack.enter_context(patches.temporary())
        for maker, undo in _MAKERS:
            made = _function(maker)(*_ARGUMENTS.get(maker, ()))
            if isinstance(made, AbstractContextManager):
                stack.enter_context(made)
            if undo is not None:
                stack.callback(_function(undo))
        return sorted(dict.fromkeys(patches.installed()), key=lambda patch: patch.why)


_ARGUMENTS: dict[str, tuple[Any, ...]] = {"lakeward.pipelines.reads:intercepting": (None,)}


def _paths() -> None:
    from lakeward.session import python_paths
    from lakeward.session.paths import PathMap

    python_paths.install(PathMap((("/Volumes", str(Path(sys.prefix) / "volumes")),)))


def _function(name: str) -> Callable[..., Any]:
    module, function = name.split(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found
