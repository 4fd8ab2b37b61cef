"""The map from the user's names to local folders: laws by Hypothesis, spellings by table."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import InvalidPathError
from lakeward.session.path_rules import dbfs_paths
from lakeward.session.paths import PathMap, is_absolute


def settings(root: str = "/w", mounts: tuple[tuple[str, str], ...] = ()) -> Any:
    state = Path(root) / ".lakeward" / "local"
    return cast(
        "Any",
        SimpleNamespace(
            root=Path(root),
            home=state.parent,
            volumes=state / "volumes",
            dbfs=state / "dbfs",
            workspace=state / "workspace",
            warehouse=state / "warehouse",
            mounts=mounts,
            warehouse_dir=None,
        ),
    )


MOUNTS = (
    ("s3://bucket/", "/data/b"),
    ("abfss://c@a.dfs.core.windows.net/", "/data/a"),
    ("gs://g", "/data/g"),
)
MAP = PathMap.of(settings(mounts=(*MOUNTS, ("/mnt/raw", "/data/raw"))))
STATE = "/w/.lakeward/local"
HIVE = f"{STATE}/warehouse/hive_metastore/default"

names = st.text("abcXYZ019_-. é", min_size=1, max_size=8).filter(lambda n: n.strip(".") != "")
below = st.lists(names, max_size=4).map(lambda parts: "".join("/" + part for part in parts))
user_prefixes = st.sampled_from(
    [
        "/Volumes",
        "/Workspace",
        "/dbfs",
        "/mnt/raw",
        "s3://bucket",
        "gs://g",
        "abfss://c@a.dfs.core.windows.net",
    ]
)


@given(user_prefixes, below)
def test_law_the_users_name_of_the_local_path_is_the_path(prefix: str, rest: str) -> None:
    path = prefix + rest
    if MAP.local(path).startswith(f"{STATE}/dbfs/"):
        # `/dbfs/mnt/x` and `/mnt/x` are one folder: the shorter name is shown.
        assert MAP.local(MAP.user(MAP.local(path))) == MAP.local(path)
    else:
        # Names of Unity Catalog do not depend on case.
        names = path.split("/")
        names[2:5] = [name.lower() if prefix == "/Volumes" else name for name in names[2:5]]
        assert MAP.user(MAP.local(path)) == "/".join(names)


@pytest.mark.parametrize("root", ["", "dbfs:", "/dbfs", "file:", "file://localhost"])
@pytest.mark.parametrize("dbfs", [False, True])
def test_case_counts_below_volumes_alone(root: str, dbfs: bool) -> None:
    """Catalog, schema and volume are names of Unity Catalog; what is below them are files."""
    mounts = (("/Volumes/Main/S/Mounted", "/data/m"),)
    with dbfs_paths() if dbfs else nullcontext():
        found = PathMap.of(settings(mounts=mounts))
    for written, local in {
        "/Volumes/Main/Raw/In/Of/June": "/volumes/main/raw/in/Of/June",
        "/Volumes/MAIN/RAW/IN": "/volumes/main/raw/in",
        "/Volumes/MAIN/": "/volumes/main/",
        "/Volumes/Main/x/../S/V/X": "/volumes/main/s/v/X",
    }.items():
        assert found.local(f"{root}{written}") == f"{STATE}{local}"
    for written in ("/Volumes/Main/S/Mounted/A", "/Volumes/main/s/MOUNTED/A"):
        assert found.local(f"{root}{written}") == "/data/m/A"


def test_a_real_folder_below_volumes_keeps_its_case() -> None:
    """A Mac has disks there."""
    found = PathMap.of(settings("/Volumes/Disk/Project"))
    assert found.local("/Volumes/Disk/Project/A") == "/Volumes/Disk/Project/A"


@given(user_prefixes, below)
def test_law_a_mapped_path_is_local_and_maps_to_itself(prefix: str, rest: str) -> None:
    local = MAP.local(prefix + rest)
    assert local.startswith(("/w/", "/data/"))
    assert MAP.local(local) == local


@given(st.text(max_size=30))
def test_law_text_outside_every_prefix_is_unchanged(path: str) -> None:
    local = MAP.local(path)
    assert local == path or local.startswith(("/w/", "/data/"))


@given(user_prefixes, st.lists(st.one_of(names, st.just(".."), st.just("."), st.just("")), max_size=8))
def test_law_no_dots_reach_the_folders_next_to_a_mapped_one(prefix: str, parts: list[str]) -> None:
    local = MAP.local("/".join([prefix, *parts]))
    assert ".." not in local.split("/")
    if local.startswith("/w/"):
        assert local.startswith(tuple(f"{STATE}/{folder}" for folder in ("volumes", "dbfs", "workspace")))


@pytest.mark.parametrize(
    ("path", "local"),
    [
        ("/Volumes", f"{STATE}/volumes"),
        ("/Volumes/", f"{STATE}/volumes/"),
        ("/Volumes/c/s/v/x.txt", f"{STATE}/volumes/c/s/v/x.txt"),
        ("file:/Volumes/c", f"{STATE}/volumes/c"),
        ("file:///Volumes/c", f"{STATE}/volumes/c"),
        ("file://localhost/Volumes/c", f"{STATE}/volumes/c"),
        ("dbfs:/Volumes/c", f"{STATE}/volumes/c"),
        ("/dbfs/Volumes/c", f"{STATE}/volumes/c"),
        ("dbfs:/", f"{STATE}/dbfs"),
        ("dbfs:/x", f"{STATE}/dbfs/x"),
        ("dbfs:///x", f"{STATE}/dbfs/x"),
        ("/dbfs/x", f"{STATE}/dbfs/x"),
        ("/mnt/x", f"{STATE}/dbfs/mnt/x"),
        ("dbfs:/mnt/x", f"{STATE}/dbfs/mnt/x"),
        ("/FileStore/x", f"{STATE}/dbfs/FileStore/x"),
        ("/databricks-datasets/x", f"{STATE}/dbfs/databricks-datasets/x"),
        ("dbfs:/user/hive/warehouse", HIVE),
        ("/user/hive/warehouse/t", f"{HIVE}/t"),
        ("dbfs:///user/hive/warehouse/t", f"{HIVE}/t"),
        ("/dbfs/user/hive/warehouse/t/_delta_log", f"{HIVE}/t/_delta_log"),
        ("dbfs:/user/hive/warehouse/s.db", f"{STATE}/warehouse/hive_metastore/s"),
        ("dbfs:/user/hive//warehouse/./s.db/t", f"{STATE}/warehouse/hive_metastore/s/t"),
        ("/dbfs/user/hive/warehouse/s.db/t/", f"{STATE}/warehouse/hive_metastore/s/t/"),
        ("/user/hive/warehouse/s.dbx/t", f"{HIVE}/s.dbx/t"),
        ("/user/hive/warehouse/t/s.db", f"{HIVE}/t/s.db"),
        ("/user/hive/x", "/user/hive/x"),
        ("dbfs:/user/hive/x", f"{STATE}/dbfs/user/hive/x"),
        ("/Workspace/Users/me", f"{STATE}/workspace/Users/me"),
        ("s3://bucket", "/data/b"),
        ("s3://bucket/k/l", "/data/b/k/l"),
        ("s3a://bucket/k", "/data/b/k"),
        ("gs://g/k", "/data/g/k"),
        ("abfss://c@a.dfs.core.windows.net/k", "/data/a/k"),
        ("/mnt/raw/k", "/data/raw/k"),
        ("dbfs:/mnt/raw/k", "/data/raw/k"),
        ("/dbfs/mnt/raw/k", "/data/raw/k"),
    ],
)
def test_every_spelling_of_a_mapped_path(path: str, local: str) -> None:
    assert MAP.local(path) == local


@pytest.mark.parametrize(
    "path",
    [
        "/Volumes2/x",
        "/volumes/x",
        "Volumes/x",
        "/tmp//x/./y",
        "/tmp/Volumes/x",
        "file:/tmp/x",
        "s3://bucket2/k",
        "s3://other",
        "https://host/Volumes/x",
        "",
        "/",
        ".",
        "../Volumes",
        "a:b",
    ],
)
def test_what_no_prefix_covers_is_unchanged(path: str) -> None:
    assert MAP.local(path) == path
    assert MAP.user(path) == path


@pytest.mark.parametrize(
    ("path", "local"),
    [
        ("/Volumes/c/s/v/../w", f"{STATE}/volumes/c/s/w"),
        ("/Volumes/../etc/passwd", "/etc/passwd"),
        ("/Volumes/..", "/"),
        ("/Volumes/c/../../Workspace/x", f"{STATE}/workspace/x"),
        ("/tmp/../Volumes/x", f"{STATE}/volumes/x"),
        ("//Volumes//x", f"{STATE}/volumes/x"),
        ("/./Volumes/x", f"{STATE}/volumes/x"),
        ("dbfs:/../../x", f"{STATE}/dbfs/x"),
        ("s3://bucket/../../x", "/data/b/x"),
    ],
)
def test_dots_are_resolved_in_the_users_name_before_the_prefix_is_looked_up(path: str, local: str) -> None:
    assert MAP.local(path) == local


@pytest.mark.parametrize("host", ["..", "x", "Volumes", "..%2f..", "x:1", "u@h"])
@pytest.mark.parametrize("rest", ["", "/", "/x", "/../x"])
def test_dbfs_takes_no_host(host: str, rest: str) -> None:
    with pytest.raises(InvalidPathError, match="Hostname not allowed in dbfs uri"):
        MAP.local(f"dbfs://{host}{rest}")


@pytest.mark.parametrize("path", ["file:/x/y", "file:///x/y", "file://localhost/x/y", "/x/y"])
def test_a_required_local_path_has_no_scheme(path: str) -> None:
    assert MAP.require_local(path) == "/x/y"
    assert MAP.require_local("/Volumes/c") == MAP.local("/Volumes/c")


def test_a_required_local_path_is_not_in_unmapped_storage() -> None:
    with pytest.raises(InvalidPathError, match=r"STORAGE_NOT_MAPPED. gs://b/x .*--mount gs://b=FOLDER"):
        MAP.require_local("gs://b/x")


@pytest.mark.parametrize(
    ("path", "expected"), [("/x", True), ("s3://b/x", True), ("dbfs:/x", True), ("a:b", False), ("x", False)]
)
def test_a_path_is_absolute_with_and_without_a_scheme(path: str, expected: bool) -> None:
    assert is_absolute(path) is expected


def test_what_is_left_of_a_way_out_is_refused() -> None:
    # A mount without a bucket: the part that is a bucket elsewhere is a name below the folder here.
    with pytest.raises(InvalidPathError, match="leads out of its root"):
        PathMap((("s3://", "/data/s3"),)).local("s3://../x")


def test_the_longest_prefix_wins_whatever_the_order_of_the_mounts() -> None:
    entries = (("/a", "/1"), ("/a/b", "/2"), ("/a/b/c", "/3"))
    for order in (entries, entries[::-1]):
        assert [PathMap(order).local(p) for p in ("/a/x", "/a/b/x", "/a/b/c/x", "/a/bc")] == [
            "/1/x",
            "/2/x",
            "/3/x",
            "/1/bc",
        ]


@pytest.mark.parametrize("root", ["/Volumes/Disk/project", "/mnt/c/project", "/Workspace/Users/me/project"])
def test_a_project_that_really_lies_below_a_prefix_stays_where_it_is(root: str) -> None:
    here = PathMap.of(settings(root))
    assert here.local(f"{root}/src/a.py") == f"{root}/src/a.py"
    volume = here.local("/Volumes/c/s/v")
    assert volume == f"{root}/.lakeward/local/volumes/c/s/v"
    assert here.local(volume) == volume
    assert here.user(volume) == "/Volumes/c/s/v"
    assert here.user(f"{root}/src/a.py") == f"{root}/src/a.py"


@pytest.mark.parametrize("spelling", ["/Workspace", "file:/Workspace", "file:///Workspace", "//Workspace"])
def test_workspace_before_the_project_s_own_path_is_the_project(spelling: str) -> None:
    here = PathMap.of(settings("/home/ann/project"))
    assert here.local(f"{spelling}/home/ann/project/src/a.py") == "/home/ann/project/src/a.py"
    assert here.local(f"{spelling}/home/ann/project") == "/home/ann/project"
    # A sibling whose name begins in the same way is a file of the workspace.
    other = f"{spelling}/home/ann/project2"
    assert here.local(other) == "/home/ann/project/.lakeward/local/workspace/home/ann/project2"
    assert here.user("/home/ann/project/src/a.py") == "/home/ann/project/src/a.py"
    assert here.of_python().local("/Workspace/home/ann/project/a") == "/home/ann/project/a"


def test_python_sees_paths_but_no_uris_and_dbfs_only_below_its_own_name() -> None:
    python = MAP.of_python()
    assert python.local("/dbfs/x") == f"{STATE}/dbfs/x"
    assert python.local("/Volumes/x") == f"{STATE}/volumes/x"
    assert python.local("/mnt/raw/x") == "/data/raw/x"
    for path in ("/mnt/x", "/FileStore/x", "dbfs:/x", "s3://bucket/x"):
        assert python.local(path) == path


def test_the_map_travels_as_json() -> None:
    assert PathMap.from_json(MAP.as_json()) == MAP
