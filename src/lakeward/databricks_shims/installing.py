"""Installation and removal of the replacement modules."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from types import MappingProxyType, ModuleType

from lakeward.databricks_shims import ipython
from lakeward.databricks_shims.finder import Fill, Finder
from lakeward.databricks_shims.modules import PACKAGES, SERVED, WHEN_ASKED
from lakeward.databricks_shims.names import free_names
from lakeward.patching import PatchSpec, insert_entry, remove_entry
from lakeward.session import on_databricks

PATCHES = (
    PatchSpec("sys", "meta_path", "shims", "user code imports databricks.sdk.runtime and pyspark.dbutils"),
)


def _answer_sdk(module: ModuleType) -> None:
    from lakeward.databricks_shims import sdk

    sdk.answer(module)


def _restore_sdk(module: ModuleType) -> None:
    from lakeward.databricks_shims import sdk

    sdk.restore(module)


_AFTER: Mapping[str, Fill] = {
    "databricks.sdk": _answer_sdk,
    "IPython": lambda module: ipython.answer(module, free_names()),
}
_RESTORE: Mapping[str, Fill] = {"databricks.sdk": _restore_sdk, "IPython": ipython.restore}

_lock = threading.RLock()
_finders: list[Finder] = []


def install(*, with_ipython: bool = False, also: Mapping[str, Fill] = MappingProxyType({})) -> None:
    """Serve the shims to imports from now on. Imports nothing itself; idempotent."""
    if os.environ.get("LAKEWARD_DISABLE") == "1" or on_databricks():
        return
    with _lock:
        if _finders:
            return
        empty: Mapping[str, Fill] = dict.fromkeys(PACKAGES, lambda _: None)
        finder = Finder(SERVED, {**empty, **(WHEN_ASKED if with_ipython else {}), **also}, _AFTER)
        insert_entry(sys, "meta_path", finder, layer=PATCHES[0].layer, reason=PATCHES[0].reason)
        _finders.append(finder)
        for name, change in _AFTER.items():
            if name in sys.modules:
                change(sys.modules[name])


def uninstall() -> None:
    """Remove the shims and restore patched modules; no effect if they are not installed."""
    with _lock:
        while _finders:
            finder = _finders.pop()
            remove_entry(finder)
            finder.forget()
            for name, restore in _RESTORE.items():
                if name in sys.modules:
                    restore(sys.modules[name])


def installed() -> bool:
    """Return whether the shims are installed."""
    return bool(_finders)
