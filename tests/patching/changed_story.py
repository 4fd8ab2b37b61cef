"""Start a session with all patches; print what differs in other code and what is declared.

Run as a program: it needs a process in which nothing is patched yet.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

OWN = ("lakeward", "__main__")
MODULES = (
    *("pyspark.sql.functions", "pyspark.sql.streaming.readwriter", "pyspark.pipelines", "pyspark.sql.types"),
    "pyspark.sql.internal",
    *("pyspark.sql.classic.dataframe", "pyspark.sql.streaming.query", "delta.tables", "databricks.sdk"),
    *("pyarrow.dataset", "pyarrow.parquet", "pyarrow.orc", "pyarrow.csv", "pyarrow.json", "pyarrow.feather"),
    *("sqlite3", "subprocess", "tempfile", "glob", "shutil", "IPython"),
)

# What PySpark itself changes when its first session starts.
BY_PYSPARK = {("pyspark.core.rdd.RDD", "toDF"), ("py4j.java_gateway", "get_return_value")}


def places(modules: dict[str, ModuleType]) -> Iterator[tuple[Any, str, str, Any]]:
    """(owner, its name, attribute, value) of all modules, their classes and their functions' code."""
    for name, module in modules.items():
        for attribute, value in vars(module).copy().items():
            yield module, module.__name__, attribute, value
            if getattr(value, "__module__", None) == name:
                yield from _inside(value)


def _inside(value: Any) -> Iterator[tuple[Any, str, str, Any]]:
    if isinstance(value, FunctionType):
        yield value, f"{value.__module__}.{value.__qualname__}", "__code__", value.__code__
    elif isinstance(value, type):
        for attribute, entry in vars(value).copy().items():
            yield value, f"{value.__module__}.{value.__qualname__}", attribute, entry
            plain = entry.__func__ if isinstance(entry, (staticmethod, classmethod)) else entry
            if not isinstance(plain, (type, FunctionType)) or plain.__module__ != value.__module__:
                continue
            if plain.__qualname__.startswith(f"{value.__qualname__}."):
                yield from _inside(plain)


def behaves(value: object) -> bool:
    """Whether a value is behaviour (a function, a descriptor, code), not state that a session keeps."""
    return callable(value) or hasattr(type(value), "__get__") or inspect.iscode(value)


def main(state: Path) -> None:
    """Print {"changed": […], "declared": […], "unlisted": …} as JSON."""
    for name in MODULES:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    from lakeward import patching
    from lakeward.databricks_shims import install as install_shims
    from lakeward.pipelines.analysis.read_interception import intercept_reads
    from lakeward.pipelines.api.modules import serve_modules
    from lakeward.session import Settings, session
    from lakeward.session.daemon.acquisition import use_working_directory

    declared = {(patch.owner_name, patch.attribute, patch.layer) for patch in patching.list_patches()}
    assert patching.installed_patches() == [], "listing installs nothing"
    foreign = {n: m for n, m in sys.modules.copy().items() if n.split(".")[0] not in OWN and m is not None}
    # The owner is kept, so that its id is not given to another object.
    before = {(id(owner), attribute): (value, owner) for owner, _, attribute, value in places(foreign)}
    lists = {name: list(getattr(sys, name)) for name in ("meta_path", "path_hooks")}

    spark = session(Settings.here().with_(home=state, profile="serverless"))
    install_shims()
    with serve_modules(), intercept_reads(None):  # type: ignore[arg-type]  # nothing is read
        use_working_directory(
            vars(spark)["_jvm"] if "_jvm" in vars(spark) else type(spark)._jvm.__get__(spark)
        )
        changed = {
            (name, attribute)
            for owner, name, attribute, value in places(foreign)
            if before.get((id(owner), attribute), (None, None))[0] is not value
            and (behaves(value) or attribute == "__all__")
            # The code of a function that replaces another is no change of the old one's code.
            and (attribute != "__code__" or (id(owner), attribute) in before)
        }
        changed -= BY_PYSPARK
        changed |= {("sys", name) for name, entries in lists.items() if entries != getattr(sys, name)}
        installed = {
            (patch.owner_name, patch.attribute, patch.layer) for patch in patching.installed_patches()
        }
    found = {"changed": changed, "declared": declared, "installed": installed}
    print(json.dumps({name: sorted(rows) for name, rows in found.items()}))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
