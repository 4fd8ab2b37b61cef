"""Globs, listings, file names and Hive partitions (AL-1.4, AL-5.2, AL-7.4)."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path

import pytest

from lakeward.autoloader.discovery.file_listing import FileLister, FileStatus, parse_partition_values
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.discovery.globs import Globber
from lakeward.autoloader.discovery.object_store import ArrowStorage
from lakeward.autoloader.discovery.storage import open_storage
from lakeward.autoloader.streams.file_tracker import select_batch
from lakeward.errors import CloudFilesError
from lakeward.session.paths import PathMap
from tests.trees import write_files

NAMES = FileNames(PathMap(()))


@pytest.mark.rule("7.4")
@pytest.mark.parametrize(
    ("pattern", "path", "lenient", "strict"),
    [
        ("/a/b", "/a/b/c/file.txt", True, True),
        ("/a/b", "/a/b_dir/c/file.txt", False, False),
        ("/a/b", "/a/b.txt", False, False),
        ("/a/b/", "/a/b.txt", False, False),
        ("/a/*/c/", "/a/b/c/file.txt", True, True),
        ("/a/*/c/", "/a/b/c/d/file.txt", True, True),
        ("/a/*/d/", "/a/b/c/d/file.txt", True, False),
        ("/a/*/c/", "/a/b/x/y/c/file.txt", True, False),
        ("/a/*/c", "/a/b/c_file.txt", True, False),
        ("/a/*/c/", "/a/b/c_file.txt", True, False),
        ("/a/*/c", "/a/b/cookie/file.txt", True, False),
        ("/a/b*", "/a/b.txt", True, True),
        ("/a/b*", "/a/b/file.txt", True, True),
        ("/a/{0.txt,1.txt}", "/a/0.txt", True, True),
        ("/a/*/{0.txt,1.txt}", "/a/0.txt", False, False),
        ("/a/b/[cde-h]/i/", "/a/b/c/i/file.txt", True, True),
        ("/a/[^b]/x", "/a/b/x", False, False),
        ("/a/{ab,c{de,fh}}", "/a/cfh", True, True),
        ("/a/?.txt", "/a/b.txt", True, True),
        ("/a/b?c", "/a/b/c", False, False),
        ("/a/b[^x]c/d", "/a/b/c/d", False, False),
        ("/a/b[+-9]c/d", "/a/b/c/d", False, False),
        ("/a/[a-z]/x", "/a/q/x", True, True),
        ("/a/{x,y}/*.txt", "/a/y/1.txt", True, True),
        ("/a/{x,y}/*.txt", "/a/y/z/1.txt", True, False),
        ("/a/*.txt", "/a/1.txt/part", True, True),
        ("/a/\\*/x", "/a/b/x", False, False),
        ("/a/[b/*", "/a/[b/x", True, True),
        ("/a/{b/*", "/a/{b/x", True, True),
        ("/a/b.c/*", "/a/bxc/1", False, False),
        ("s3://b/a/*/d", "s3://b/a/x/y/d/f", True, False),
    ],
)
def test_the_table_of_lenient_and_strict_globs(pattern: str, path: str, lenient: bool, strict: bool) -> None:
    for is_strict, expected in ((False, lenient), (True, strict)):
        globber = Globber(pattern, strict=is_strict)
        assert globber.matches(path) is expected
        assert not expected or path.startswith(globber.root)


def test_an_invalid_glob_is_an_error_with_the_reason() -> None:
    with pytest.raises(CloudFilesError, match="bad character range"):
        Globber("/a/[z-a]/*")


@pytest.mark.parametrize("name", ["b_dir/c/file.txt", "b.txt"])
def test_a_plain_folder_is_not_a_prefix(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a" / name
    path.parent.mkdir(parents=True)
    path.touch()
    (tmp_path / "a" / "b").mkdir()
    assert listed(tmp_path / "a" / "b") == []


def listed(source: Path | str, **changes: object) -> list[str]:
    lister = FileLister(str(source), open_storage(str(source)), NAMES, **changes)  # type: ignore[arg-type]
    return [Path(status.path).name for status in lister.list_new(lambda _: False)]


def test_a_file_a_folder_and_names_that_are_invisible(tmp_path: Path) -> None:
    names = ("a.json", "_x/b.json", ".c.json", "d/e/f.json", "_k=1/g.json")
    write_files(tmp_path, dict.fromkeys(names, "{}"))
    assert sorted(listed(tmp_path)) == ["a.json", "f.json", "g.json"]
    assert listed(tmp_path / "a.json") == ["a.json"]
    assert listed(f"{tmp_path}/_x/*") == ["b.json"]
    assert listed(tmp_path, name_glob="f*") == ["f.json"]
    with pytest.raises(FileNotFoundError):
        listed(tmp_path / "nothing")


def test_files_come_oldest_first_and_can_be_limited_in_time(tmp_path: Path) -> None:
    for name, seconds in (("new", 300), ("old", 100), ("mid", 200)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (seconds, seconds))
    assert listed(tmp_path) == ["old", "mid", "new"]
    bounds = tuple(datetime.fromtimestamp(s, timezone.utc) for s in (100, 300))
    assert listed(tmp_path, modified=bounds) == ["mid"]


def test_a_store_behind_arrow_lists_the_same(tmp_path: Path) -> None:
    from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

    for name in ("a.json", "d/b.json", "_x/c.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("12")
    storage = ArrowStorage(SubTreeFileSystem(str(tmp_path), LocalFileSystem()), "s3://")
    lister = FileLister("s3://d", storage, NAMES)
    assert [(s.key, s.size) for s in lister.list_new(lambda _: False)] == [("s3://d/b.json", 2)]
    assert storage.read("s3://d/b.json") == b"12"
    assert list(storage.walk("s3://", lambda name: name[0] != "_")) == ["s3://a.json", "s3://d/b.json"]


def test_names_as_databricks_shows_them() -> None:
    names = FileNames(
        PathMap(
            (
                ("/Volumes", "/s/volumes"),
                ("dbfs:/Volumes", "/s/volumes"),
                ("s3://b", "/m"),
                ("/dbfs", "/s/dbfs"),
            )
        )
    )
    assert names.key("/s/volumes/c/x.json") == "dbfs:/Volumes/c/x.json"
    assert names.key("/m/x") == "s3://b/x"
    assert names.key("/s/dbfs/x") == "dbfs:/x"
    assert names.key("/else/x") == "file:/else/x"
    for key in ("dbfs:/Volumes/c/x.json", "s3://b/x", "file:/else/x"):
        assert names.key(names.local(key)) == key
    assert FileNames.encode("file:/a b/ü#%.json") == "file:/a%20b/ü%23%25.json"


def test_partition_values_of_a_path() -> None:
    assert parse_partition_values("/year=2022/x/k=a%20b/f=1.json") == {"year": "2022", "k": "a b"}
    assert parse_partition_values("/k=__HIVE_DEFAULT_PARTITION__/f") == {"k": None}


@pytest.mark.rule("6.4.4", "6.4.5")
def test_files_are_a_hard_limit_and_bytes_a_soft_one() -> None:
    files = [FileStatus(str(i), str(i), 3, 0) for i in range(5)]
    assert len(select_batch(files, max_files=2, max_bytes=None)) == 2
    assert len(select_batch(files, max_files=None, max_bytes=10)) == 4
    assert len(select_batch(files, max_files=3, max_bytes=10)) == 3
    assert len(select_batch(files, max_files=9, max_bytes=6)) == 2
    assert len(select_batch(files, max_files=9, max_bytes=1)) == 1
