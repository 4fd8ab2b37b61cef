"""Activation of a layer in a running process: its imports, its programs, and Spark's Python workers."""

from __future__ import annotations

import importlib
import os
import site
import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lakeward.environments.layers import Layer

_VARIABLES = ("PATH", "VIRTUAL_ENV", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")


@contextmanager
def active(layer: Layer | None) -> Iterator[None]:
    """Yield a block in which this process, and Spark workers started for it, import from `layer` first.

    Afterwards modules of the layer are forgotten, except extension modules, which load once per process.
    """
    if layer is None or runs_layer_python(layer):
        yield
        return
    paths, variables = list(sys.path), {name: os.environ.get(name) for name in _VARIABLES}
    python = _workers()
    activate(layer)
    try:
        yield
    finally:
        sys.path[:] = paths
        for name, value in variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _set_workers(python)
        forget_modules(layer.site)
        importlib.invalidate_caches()


@contextmanager
def importable(folders: Iterable[Path]) -> Iterator[None]:
    """Yield a block in which this process imports from `folders`, too, after everything else that it has."""
    added = [place for place in map(str, folders) if place not in sys.path]
    sys.path += added
    importlib.invalidate_caches()
    try:
        yield
    finally:
        for place in added:
            sys.path.remove(place)


def runs_layer_python(layer: Layer) -> bool:
    """Return whether this process runs the layer's own Python."""
    return Path(sys.prefix) == layer.folder


def activate(layer: Layer) -> None:
    """Put the layer's packages before those of this environment, for good."""
    place = str(layer.site)
    if place not in sys.path:
        base = sysconfig.get_path("purelib")
        sys.path.insert(sys.path.index(base) if base in sys.path else len(sys.path), place)
    # Its .pth files: editable packages, and this environment behind it.
    site.addsitedir(place)
    os.environ.update({name: value for name, value in layer.environ().items() if name in _VARIABLES})
    _set_workers(str(layer.python))
    importlib.invalidate_caches()


def forget_modules(folder: Path, only: Collection[str] | None = None) -> None:
    """Remove modules below `folder` from `sys.modules`, unless their package has extension modules.

    `only` limits this to top-level packages of these names.
    """
    below: dict[str, list[str]] = {}
    kept: set[str] = set()
    for name, module in sys.modules.copy().items():
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not Path(file).is_relative_to(folder):
            continue
        top = name.partition(".")[0]
        if only is not None and top not in only:
            continue
        below.setdefault(top, []).append(name)
        if not file.endswith((".py", ".pyc")):
            kept.add(top)
    for top, names in below.items():
        if top not in kept:
            for name in names:
                del sys.modules[name]


def forget_replaced(layer: Layer) -> None:
    """Remove imported modules that `layer` has in its own version, wherever they were imported from.

    Packages with extension modules stay: Python loads those once.
    """
    names = {each.name.partition(".")[0] for each in layer.site.iterdir() if not each.name.startswith("_")}
    for folder in {Path(place) for place in sys.path if "site-packages" in place}:
        forget_modules(folder, names - {"lakeward", "pyspark", "delta", "py4j"})


def _workers() -> str | None:
    """Return the Python that functions made from now on run with, where a Spark context exists."""
    context = _context()
    return str(context.pythonExec) if context is not None else None


def _set_workers(python: str | None) -> None:
    context = _context()
    if context is not None and python is not None:
        context.pythonExec = python


def _context() -> Any:
    module = sys.modules.get("pyspark.core.context") or sys.modules.get("pyspark.context")
    context = getattr(module, "SparkContext", None)
    return getattr(context, "_active_spark_context", None)
