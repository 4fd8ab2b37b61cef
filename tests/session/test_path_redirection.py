"""`/Volumes` and its kin in Python's own functions, and in the libraries that read files."""

from __future__ import annotations

import builtins
import os
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.json
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from lakeward import patching
from lakeward.session import path_redirection
from lakeward.session.paths import PathMap
from tests.processes import outcome

ROOM = Path(__file__).parent
VOLUME = "/Volumes/c/s/v"


@pytest.fixture
def mapped(tmp_path: Path) -> Iterator[Path]:
    """`/Volumes` is a folder of this test's; afterwards the suite's own mapping, if any, is back."""
    before = path_redirection.installed_map()
    path_redirection.install(PathMap((("/Volumes", f"{tmp_path}/volumes"), ("/dbfs", f"{tmp_path}/dbfs"))))
    try:
        (tmp_path / "volumes" / "c" / "s" / "v").mkdir(parents=True)
        yield tmp_path / "volumes" / "c" / "s" / "v"
    finally:
        if before is None:
            path_redirection.uninstall()
            assert not os.path.exists("/Volumes"), "something was written to the real /Volumes"
        else:
            path_redirection.install(before)


def interpreters() -> list[str]:
    """Those on the PATH and those of pyenv, one a version."""
    names = [f"python3.{minor}" for minor in range(10, 15)]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = [str(path) for name in names for path in sorted(pyenv.glob(f"*/bin/{name}"))]
    found += [path for name in names if (path := shutil.which(name))]
    version = "import sys; print(sys.version_info[:2])"
    by_version = {
        done.stdout: python
        for python in [*found, sys.executable]
        if (done := subprocess.run([python, "-c", version], capture_output=True, check=False)).returncode == 0
    }
    return sorted(by_version.values())


@pytest.mark.parametrize("python", interpreters())
def test_the_standard_library_sees_the_users_names_under_every_python_of_this_machine(
    python: str, tmp_path: Path
) -> None:
    story = [python, "-W", "error", str(ROOM / "paths_story.py"), str(ROOM.parents[1] / "src"), str(tmp_path)]
    done = outcome(story)
    assert done.stderr == ""
    assert done.stdout == "passed\n"


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "json", "parquet", "feather", "pickle"])
def test_pandas_writes_and_reads_below_a_volume(mapped: Path, suffix: str) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "é"]})
    path = f"{VOLUME}/t.{suffix}"
    match suffix:
        case "csv" | "csv.gz":
            frame.to_csv(path, index=False)
            back = pd.read_csv(path)
        case _:
            getattr(frame, f"to_{suffix}")(path)
            back = getattr(pd, f"read_{suffix}")(path)
    pd.testing.assert_frame_equal(back, frame)
    assert (mapped / f"t.{suffix}").stat().st_size > 0


@pytest.mark.parametrize("engine", ["c", "python", "pyarrow"])
def test_every_csv_engine_of_pandas_reads_a_volume(mapped: Path, engine: Any) -> None:
    (mapped / "t.csv").write_text("a,b\n1,2\n")
    assert pd.read_csv(f"{VOLUME}/t.csv", engine=engine).to_dict("records") == [{"a": 1, "b": 2}]
    assert pd.read_csv(Path(f"{VOLUME}/t.csv"), engine=engine).to_dict("records") == [{"a": 1, "b": 2}]


def test_a_partitioned_folder_of_pandas_and_pyarrow_lies_in_the_volume(mapped: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2], "day": ["x", "y"]})
    frame.to_parquet(f"{VOLUME}/parts", partition_cols=["day"])
    assert sorted(p.name for p in (mapped / "parts").iterdir()) == ["day=x", "day=y"]
    assert sorted(pd.read_parquet(f"{VOLUME}/parts")["a"]) == [1, 2]
    assert pq.read_table(f"{VOLUME}/parts").num_rows == 2
    assert pa.dataset.dataset(f"{VOLUME}/parts", format="parquet", partitioning="hive").count_rows() == 2


def test_every_entry_point_of_pyarrow_takes_the_users_path(mapped: Path) -> None:
    table = pa.table({"a": [1, 2]})
    pq.write_table(table, f"{VOLUME}/t.parquet")
    assert pq.read_table(f"{VOLUME}/t.parquet").equals(table)
    assert pq.read_table(source=Path(f"{VOLUME}/t.parquet")).equals(table)
    assert pq.ParquetFile(f"{VOLUME}/t.parquet").metadata.num_rows == 2
    assert pq.read_schema(f"{VOLUME}/t.parquet").names == ["a"]
    files = [f"{VOLUME}/t.parquet", f"{VOLUME}/t.parquet"]
    assert pa.dataset.dataset(files, format="parquet").count_rows() == 4
    pa.dataset.write_dataset(table, f"{VOLUME}/set", format="parquet")
    assert pa.dataset.dataset(f"{VOLUME}/set").to_table().equals(table)
    pa.csv.write_csv(table, f"{VOLUME}/t.csv")
    assert pa.csv.read_csv(f"{VOLUME}/t.csv").equals(table)
    (mapped / "t.json").write_text('{"a": 1}\n{"a": 2}\n')
    assert pa.json.read_json(f"{VOLUME}/t.json").equals(table)
    pa.feather.write_feather(table, f"{VOLUME}/t.feather")
    assert pa.feather.read_table(f"{VOLUME}/t.feather").equals(table)
    pa.orc.write_table(table, f"{VOLUME}/t.orc")
    assert pa.orc.read_table(f"{VOLUME}/t.orc").equals(table)
    with pa.memory_map(f"{VOLUME}/t.csv") as file:
        assert file.read() == (mapped / "t.csv").read_bytes()


@pytest.mark.parametrize(
    ("library", "reader"),
    [
        (pq, "read_table"),
        (pd, "read_parquet"),
        (pa.csv, "read_csv"),
        (pd, "read_csv"),
        (pa.dataset, "dataset"),
    ],
)
def test_a_missing_file_is_named_as_the_user_wrote_it(mapped: Path, library: Any, reader: str) -> None:
    read = getattr(library, reader)
    with pytest.raises(FileNotFoundError, match=f"{VOLUME}/missing") as caught:
        read(f"{VOLUME}/missing.parquet")
    assert str(mapped.parents[2]) not in str(caught.value)


def test_a_patched_function_is_pickled_by_name_and_is_no_method_of_a_class(mapped: Path) -> None:
    functions: list[Any] = [os.listdir, open, os.stat]
    for function in functions:
        assert pickle.loads(pickle.dumps(function)) is function

    class Uses:
        listing: Any = os.listdir

    assert Uses().listing(VOLUME) == []
    assert {os.stat, os.unlink} <= os.supports_dir_fd
    assert os.listdir.__name__ == "listdir"


def test_every_change_is_listed_with_its_reason(mapped: Path) -> None:
    listed = {(p.owner_name, p.attribute) for p in patching.installed_patches()}
    assert {
        ("os", "stat"),
        ("builtins", "open"),
        ("io", "open"),
        ("sys", "meta_path"),
        ("sys", "path_hooks"),
    } <= listed
    assert builtins.open is not patching.original(builtins, "open")


def test_threads_may_use_files_while_the_map_changes(mapped: Path) -> None:
    (mapped / "x").write_text("x")
    current = path_redirection.installed_map()
    assert current is not None
    stop, failures = threading.Event(), list[str]()

    def read() -> None:
        while not stop.is_set():
            failures.extend([] if os.path.isfile(f"{VOLUME}/x") else ["gone"])

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for _ in range(200):
        path_redirection.install(PathMap(current.entries))
    stop.set()
    for reader in readers:
        reader.join()
    assert failures == []


def test_a_path_that_is_not_mapped_takes_the_short_way(mapped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick test decides without a call of the map: this is what keeps the cost below a microsecond."""
    translated: list[str] = []

    def local(self: PathMap, path: str) -> str:
        translated.append(path)
        return path

    monkeypatch.setattr(PathMap, "local", local)
    for path in ("/usr/lib/x", "relative/x", str(mapped), "/tmp/.hidden/x", "C:/x"):
        os.path.exists(path)
    assert translated == []
    os.path.exists("/Volumes/x")
    assert translated == ["/Volumes/x"]
