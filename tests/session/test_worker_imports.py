"""Imports inside of functions that run in Python workers."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf, udf

from lakeward.session.patches.worker_imports import user_folders
from lakeward.session.worker_modules import WorkerModules


@pytest.fixture(autouse=True)
def _restored_imports() -> Iterator[None]:
    entries, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = entries
    for name in set(sys.modules) - modules:
        if name.startswith("users_"):
            del sys.modules[name]


def _write(folder: Path, text: str) -> Path:
    package = folder / "users_package"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("")
    (package / "names.py").write_text(f"from users_module import NAME\nSECOND = NAME + {text!r}\n")
    (folder / "users_module.py").write_text(f"NAME = {text!r}\n")
    return folder


def _name(_row: object = None) -> str:
    import users_module  # type: ignore[import-not-found]
    from users_package.names import SECOND  # type: ignore[import-not-found]

    return f"{users_module.NAME} {SECOND}"


def _in_batches(batches: Any) -> Any:
    for batch in batches:
        yield pd.DataFrame({"name": [_name() for _ in batch.index]})


def _of_frame(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"name": [_name()] * len(frame)})


def _of_series(series: pd.Series) -> pd.Series:
    return series.map(_name)


def _in_arrow(batches: Any) -> Any:
    import pyarrow as pa

    for batch in batches:
        yield pa.RecordBatch.from_pylist([{"name": _name()}] * batch.num_rows)


def _results(spark: SparkSession, *kinds: str) -> dict[str, str]:
    """Return what each kind of Python function gives for one row; without `kinds` all of them."""
    rows = spark.range(1)
    spark.udf.register("name_of", _name)
    answers = {
        "udf": rows.select(udf(_name)("id")),
        "arrow": rows.select(udf(_name, useArrow=True)("id")),
        "pandas_udf": rows.select(pandas_udf(_of_series, "string")("id")),
        "sql": spark.sql("SELECT name_of(1)"),
        "mapInPandas": rows.mapInPandas(_in_batches, "name string"),
        "mapInArrow": rows.mapInArrow(_in_arrow, "name string"),
        "applyInPandas": rows.groupBy("id").applyInPandas(_of_frame, "name string"),
        "rdd": rows.rdd.map(lambda row: (_name(row),)).toDF(["name"]),
    }
    return {kind: answers[kind].collect()[0][0] for kind in kinds or answers}


@pytest.mark.spark
def test_each_kind_of_function_imports_the_modules_of_its_run_as_they_are_now(
    spark: SparkSession, tmp_path: Path
) -> None:
    def results(folder: Path, text: str, *kinds: str) -> None:
        sys.path.insert(0, str(folder))
        try:
            found = _results(spark, *kinds)
        finally:
            sys.path.remove(str(folder))
        assert set(found.values()) == {f"{text} {text}{text}"}, found

    one, two = _write(tmp_path / "one", "first"), _write(tmp_path / "two", "second")
    results(one, "first")
    # The workers are the same, and have the modules of the first run.
    results(two, "second")
    results(one, "first", "udf")
    _write(one, "edited")
    results(one, "edited", "udf", "mapInPandas")


def test_folders_of_the_user_are_those_of_sys_path_without_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "venv" / "lib" / "python3" / "site-packages").mkdir(parents=True)
    library = str(Path(os.__file__).parent)
    entries = ["", "lib", "absent", library, "venv/lib/python3/site-packages", str(tmp_path / "lib")]
    assert user_folders(entries) == [str(tmp_path), str(tmp_path / "lib")]


@pytest.mark.parametrize("change", ["nothing", "edited", "removed", "other folder", "found before"])
def test_modules_are_imported_again_only_when_they_have_changed(tmp_path: Path, change: str) -> None:
    one, two = _write(tmp_path / "one", "first"), _write(tmp_path / "two", "second")
    # The JVM may have been started in the folder of the first task, which is then searched last by others.
    modules = WorkerModules(last=str(one) if change == "found before" else None)

    def begin(folder: Path) -> None:
        modules.begin_task()
        sys.path.insert(1, str(folder))
        modules.folders_added()
        importlib.invalidate_caches()

    begin(one)
    # Older than its import, whatever the file system's clock says.
    for file in one.rglob("*.py"):
        os.utime(file, (1, 1))
    assert _name() == "first firstfirst"
    before = sys.modules["users_module"]
    if change == "edited":
        (one / "users_module.py").write_text("NAME = 'a longer name'\n")
    elif change == "removed":
        (one / "users_module.py").unlink()
    begin(two if change in ("other folder", "found before") else one)
    assert (sys.modules.get("users_module") is before) == (change == "nothing")
    if change in ("edited", "other folder", "found before"):
        expected = {"edited": "a longer name a longer namefirst"}
        assert _name() == expected.get(change, "second secondsecond")


def test_the_folder_of_a_task_is_searched_first_although_the_process_was_started_there(
    tmp_path: Path,
) -> None:
    sys.path.insert(0, str(tmp_path))
    modules = WorkerModules(last=str(tmp_path))
    for adds, place in ((False, -1), (True, 1), (False, -1)):
        modules.begin_task()
        assert str(tmp_path) not in sys.path
        if adds:
            # `pyspark.worker_util.add_path` adds no entry that is there.
            sys.path.insert(1, str(tmp_path))
        modules.folders_added()
        assert sys.path[place] == str(tmp_path)
        assert sys.path.count(str(tmp_path)) == 1
