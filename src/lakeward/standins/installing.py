"""Putting the stand-ins in place and taking them back."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from types import MappingProxyType, ModuleType

from lakeward.session import on_databricks, patches
from lakeward.standins import ipython
from lakeward.standins.finder import Fill, Finder
from lakeward.standins.modules import PACKAGES, SERVED, WHEN_ASKED
from lakeward.standins.names import free_names

__all__ = ["install", "installed", "uninstall"]

_WHY = "code on Databricks imports databricks.sdk.runtime, pyspark.dbutils"


def _answer_sdk(module: ModuleType) -> None:
    from lakeward.standins import sdk

    sdk.answer(module)


def _restore_sdk(module: ModuleType) -> None:
    from lakeward.standins import sdk

    sdk.restore(module)


_AFTER: Mapping[str, Fill] = {
    "databricks.sdk": _answer_sdk,
    "IPython": lambda module: ipython.answer(module, free_names()),
}
_RESTORE: Mapping[str, Fill] = {"databricks.sdk": _restore_sdk, "IPython": ipython.restore}

_lock = threading.RLock()
_finders: list[Finder] = []


def install(*, with_ipython: bool = False, also: Mapping[str, Fill] = MappingProxyType({})) -> None:
    """From now on imports give the stand-ins; imports nothing itself, and a second call changes nothing.

    `with_ipython` serves `IPython` even where it is not installed, `also` further modules that are filled in
    when they are imported and nobody else has them. Nothing happens with LAKEWARD_DISABLE=1,
    on Databricks, or under Databricks Connect.
    """
    if os.environ.get("LAKEWARD_DISABLE") == "1" or on_databricks():
        return
    with _lock:
        if _finders:
            return
        empty: Mapping[str, Fill] = dict.fromkeys(PACKAGES, lambda _: None)
        finder = Finder(SERVED, {**empty, **(WHEN_ASKED if with_ipython else {}), **also}, _AFTER)
        patches.insert(sys, "meta_path", finder, why=_WHY)
        _finders.append(finder)
        for name, change in _AFTER.items():
            if name in sys.modules:
                change(sys.modules[name])


def uninstall() -> None:
    """Everything as it was; nothing happens where nothing is installed."""
    with _lock:
        while _finders:
            finder = _finders.pop()
            patches.undo(sys, "meta_path", finder)
            finder.forget()
            for name, restore in _RESTORE.items():
                if name in sys.modules:
                    restore(sys.modules[name])


def installed() -> bool:
    """Whether the stand-ins are in place."""
    return bool(_finders)
