"""Files under the platform's paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.dbutils import DBUtils, Environment, ExecutionError
from lakeward.dbutils.files import is_removable
from lakeward.session import Settings


@pytest.fixture
def volume(settings: Settings) -> Path:
    folder = settings.volumes / "main" / "default" / "landing"
    (folder / "sub").mkdir(parents=True)
    (folder / "b.csv").write_text("1,2\n")
    (folder / "a.json").write_text("{}")
    return folder


def test_a_listing_is_sorted_and_shows_directories_with_a_slash(dbutils: DBUtils, volume: Path) -> None:
    entries = dbutils.fs.ls("/Volumes/main/default/landing")
    root = "dbfs:/Volumes/main/default/landing"
    assert [(entry.path, entry.name, entry.size) for entry in entries] == [
        (f"{root}/a.json", "a.json", 2),
        (f"{root}/b.csv", "b.csv", 4),
        (f"{root}/sub/", "sub/", 0),
    ]
    assert [entry.isDir() for entry in entries] == [False, False, True]
    milliseconds = (volume / "a.json").stat().st_mtime_ns // 1_000_000
    assert entries[0].modificationTime == milliseconds
    assert repr(entries[0]).startswith("FileInfo(path='dbfs:/Volumes/main/default/landing/a.json', name=")


def test_what_a_listing_shows_can_be_listed_again(dbutils: DBUtils, volume: Path) -> None:
    (file,) = (entry for entry in dbutils.fs.ls("/Volumes/main/default/landing") if entry.name == "a.json")
    assert dbutils.fs.ls(file.path) == [file]
    assert dbutils.fs.head(file.path) == "{}"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/mnt/raw", "dbfs:/mnt/raw/f"),
        ("dbfs:/mnt/raw", "dbfs:/mnt/raw/f"),
        ("dbfs:///mnt/raw/", "dbfs:/mnt/raw/f"),
        ("/dbfs/mnt/raw", "dbfs:/mnt/raw/f"),
    ],
)
def test_dbfs_has_several_spellings(dbutils: DBUtils, settings: Settings, path: str, shown: str) -> None:
    dbutils.fs.put("dbfs:/mnt/raw/f", "x")
    assert (settings.dbfs / "mnt" / "raw" / "f").read_text() == "x"
    assert [entry.path for entry in dbutils.fs.ls(path)] == [shown]


def test_local_and_workspace_files_begin_with_file(
    dbutils: DBUtils, settings: Settings, tmp_path: Path
) -> None:
    (settings.workspace / "Users").mkdir()
    (tmp_path / "x").mkdir()
    assert dbutils.fs.ls("file:/Workspace")[0].path == "file:/Workspace/Users/"
    assert dbutils.fs.ls("/Workspace")[0].path == "file:/Workspace/Users/"
    assert dbutils.fs.ls(f"file:{tmp_path}/x") == []
    assert f"file:{tmp_path}/x/" in [entry.path for entry in dbutils.fs.ls(str(tmp_path))]


def test_a_missing_path_is_reported_by_the_text_that_code_looks_for(dbutils: DBUtils) -> None:
    for call in (
        lambda: dbutils.fs.ls("/mnt/nope"),
        lambda: dbutils.fs.head("/mnt/nope"),
        lambda: dbutils.fs.cp("/mnt/nope", "/mnt/there"),
        lambda: dbutils.fs.mv("/mnt/nope", "/mnt/there"),
    ):
        with pytest.raises(ExecutionError) as raised:
            call()
        assert "java.io.FileNotFoundException" in str(raised.value)
        assert "/mnt/nope" in str(raised.value)
        assert type(raised.value).__name__ == "ExecutionError"
    assert not dbutils.fs.rm("/mnt/nope", True)


def test_a_file_is_copied_over_into_and_next_to_it(dbutils: DBUtils, settings: Settings) -> None:
    dbutils.fs.put("/mnt/a", "new")
    dbutils.fs.put("/mnt/b", "old")
    dbutils.fs.mkdirs("/mnt/dir")
    assert dbutils.fs.cp("/mnt/a", "/mnt/b") is True
    dbutils.fs.cp("/mnt/a", "/mnt/dir")
    dbutils.fs.cp(from_="/mnt/a", to="/mnt/made/on/the/way/")
    found = {str(p.relative_to(settings.dbfs / "mnt")) for p in settings.dbfs.rglob("*") if p.is_file()}
    assert found == {"a", "b", "dir/a", "made/on/the/way/a"}
    assert dbutils.fs.head("/mnt/b") == "new"


def test_a_directory_is_copied_and_moved_only_with_recurse(dbutils: DBUtils, volume: Path) -> None:
    with pytest.raises(ExecutionError, match="Cannot copy directory unless recurse is set to true"):
        dbutils.fs.cp("/Volumes/main/default/landing", "/mnt/copy")
    with pytest.raises(ExecutionError, match="unless recurse"):
        dbutils.fs.mv("/Volumes/main/default/landing", "/mnt/copy")
    dbutils.fs.cp("/Volumes/main/default/landing", "/mnt/copy", recurse=True)
    assert [entry.name for entry in dbutils.fs.ls("/mnt/copy")] == ["a.json", "b.csv", "sub/"]
    dbutils.fs.mv("/Volumes/main/default/landing", "/mnt/moved", True)
    assert not volume.exists()
    assert [entry.name for entry in dbutils.fs.ls("/mnt/moved")] == ["a.json", "b.csv", "sub/"]


def test_a_directory_is_not_copied_into_itself(dbutils: DBUtils, volume: Path) -> None:
    with pytest.raises(ExecutionError, match="into itself"):
        dbutils.fs.cp("/Volumes/main/default/landing", "/Volumes/main/default/landing/sub", True)
    dbutils.fs.put("/mnt/a", "kept")
    with pytest.raises(ExecutionError, match="to itself"):
        dbutils.fs.mv("/mnt/a", "/mnt/a")
    assert dbutils.fs.head("/mnt/a") == "kept"


def test_a_filled_directory_is_removed_only_with_recurse(dbutils: DBUtils, volume: Path) -> None:
    (volume / "a/b").mkdir(parents=True)
    with pytest.raises(ExecutionError, match="is not empty"):
        dbutils.fs.rm("/Volumes/main/default/landing/a")
    assert dbutils.fs.rm("/Volumes/main/default/landing/sub") is True
    assert dbutils.fs.rm("/Volumes/main/default/landing/a", True) is True
    assert not (volume / "a").exists()


def test_a_volume_loses_its_content_alone(dbutils: DBUtils, volume: Path) -> None:
    with pytest.raises(ExecutionError, match="is not empty"):
        dbutils.fs.rm("/Volumes/main/default/landing")
    assert dbutils.fs.rm("/Volumes/main/default/landing", True) is True
    assert list(volume.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/", False),
        ("/etc", False),
        ("/home", False),
        ("/home/ada", False),
        ("/home/ada/project", False),
        ("/home/ada/project/.state", False),
        ("/home/ada/project/out", True),
        ("/home/ada/project/.state/dbfs/mnt/x", True),
        ("/home/ada/projects", False),
        ("/tmp", False),
        ("/tmp/checkpoint", True),
    ],
)
def test_only_what_is_the_lakehouses_can_be_removed(path: str, answer: bool) -> None:
    project = Path("/home/ada/project")
    state = project / ".state"
    below = [Path("/"), project, state, state / "dbfs", Path("/tmp")]
    assert is_removable(Path(path), below=below, keep=[project, state, Path("/home/ada")]) is answer


def test_the_project_and_what_is_around_it_is_not_removed(
    dbutils: DBUtils, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every path here is below the test's own folder, so that a broken guard costs nothing else.
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    other = tmp_path / "other"
    other.mkdir()
    for path in (tmp_path, other, settings.root, f"{settings.root}/../project", settings.state):
        with pytest.raises(ExecutionError, match="is left alone"):
            dbutils.fs.rm(f"file:{path}", True)
        with pytest.raises(ExecutionError, match="is left alone"):
            dbutils.fs.mv(f"file:{path}", "/mnt/x", True)
    assert other.is_dir() and settings.dbfs.is_dir()
    (other / "theirs").write_text("kept")
    dbutils.fs.put("/mnt/ours", "new")
    for call in (
        lambda: dbutils.fs.put(f"file:{other}/theirs", "new", overwrite=True),
        lambda: dbutils.fs.cp("/mnt/ours", f"file:{other}/theirs"),
        lambda: dbutils.fs.mv("/mnt/ours", f"file:{other}/theirs"),
        lambda: dbutils.fs.cp("/mnt", f"file:{other}", True),
    ):
        with pytest.raises(ExecutionError, match="is left alone"):
            call()
    assert (other / "theirs").read_text() == "kept"
    dbutils.fs.put(f"file:{other}/new", "new")
    (settings.root / "out").mkdir()
    assert dbutils.fs.rm(f"file:{settings.root}/out", True) is True


def test_put_says_what_it_wrote_and_replaces_only_on_request(
    dbutils: DBUtils, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dbutils.fs.put("/mnt/f", "größe") is True
    assert capsys.readouterr().out == "Wrote 7 bytes.\n"
    with pytest.raises(ExecutionError, match="FileAlreadyExistsException"):
        dbutils.fs.put("/mnt/f", "other")
    dbutils.fs.put("/mnt/f", "other", overwrite=True)
    assert dbutils.fs.head("/mnt/f") == "other"
    assert [entry.name for entry in dbutils.fs.ls("/mnt")] == ["f"]


def test_head_gives_the_beginning_and_says_that_it_is_one(
    dbutils: DBUtils, capsys: pytest.CaptureFixture[str]
) -> None:
    dbutils.fs.put("/mnt/f", "abcdef")
    capsys.readouterr()
    assert dbutils.fs.head("/mnt/f", 3) == "abc"
    assert capsys.readouterr().out == "[Truncated to first 3 bytes]\n"
    assert dbutils.fs.head("/mnt/f", maxBytes=6) == "abcdef"
    assert capsys.readouterr().out == ""
    with pytest.raises(ExecutionError, match="is a directory"):
        dbutils.fs.head("/mnt")


def test_mkdirs_is_content_with_what_is_there(dbutils: DBUtils, settings: Settings) -> None:
    assert dbutils.fs.mkdirs("dbfs:/a/b/c") is True
    assert dbutils.fs.mkdirs("dbfs:/a/b/c") is True
    assert (settings.dbfs / "a" / "b" / "c").is_dir()
    dbutils.fs.put("dbfs:/a/f", "x")
    with pytest.raises(ExecutionError, match="FileAlreadyExistsException"):
        dbutils.fs.mkdirs("dbfs:/a/f")


@pytest.mark.parametrize("root", ["/Volumes", "dbfs:/Volumes", "/dbfs/Volumes"])
@pytest.mark.parametrize(
    ("path", "absent"),
    [
        ("main/default/nope/x", "`main`.`default`.`nope`"),
        ("main/default/nope", "`main`.`default`.`nope`"),
        ("main/nope/v/x/y", "`main`.`nope`.`v`"),
        ("nope/s/v/x", "`nope`.`s`.`v`"),
        ("main/nope", "/Volumes/main/nope"),
        ("nope", "No volume is below /Volumes/nope"),
        ("main/default/landing/x", None),
        ("MAIN/Default/Landing/x", None),
    ],
)
def test_files_are_written_into_volumes_that_exist(
    dbutils: DBUtils, volume: Path, settings: Settings, root: str, path: str, absent: str | None
) -> None:
    target = f"{root}/{path}"
    before = sorted(settings.volumes.rglob("*"))
    for write in (
        lambda: dbutils.fs.mkdirs(target),
        lambda: dbutils.fs.put(f"{target}/f", "x", True),
        lambda: dbutils.fs.cp("/Volumes/main/default/landing/b.csv", f"{target}/f"),
        lambda: dbutils.fs.mv("/Volumes/main/default/landing/b.csv", f"{target}/f"),
    ):
        if absent is None:
            assert write() is True
            continue
        with pytest.raises(ExecutionError, match="FileNotFoundException") as refused:
            write()
        assert absent in str(refused.value)
        assert "CREATE VOLUME" in str(refused.value)
        assert sorted(settings.volumes.rglob("*")) == before


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("", "Can not create a Path from an empty string"),
        ("data/x", "Path must be absolute: data/x"),
        ("s3://bucket/x", r"STORAGE_NOT_MAPPED. s3://bucket/x .*\n.*--mount s3://bucket=FOLDER"),
        ("abfss://c@a.dfs.core.windows.net/x", "--mount abfss://c@a.dfs.core.windows.net=FOLDER"),
    ],
)
def test_a_path_that_cannot_be_served_says_what_to_do(dbutils: DBUtils, path: str, text: str) -> None:
    with pytest.raises(ExecutionError, match=text):
        dbutils.fs.ls(path)
    with pytest.raises(TypeError, match="a path is a text"):
        dbutils.fs.ls(None)  # type: ignore[arg-type]


def test_a_mapped_bucket_is_a_folder(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "bucket").mkdir()
    (tmp_path / "bucket" / "f").write_text("x")
    mapped = settings.with_(mounts=(("s3://lake", str(tmp_path / "bucket")),))
    fs = DBUtils(given=Environment(settings=lambda: mapped)).fs
    assert [entry.path for entry in fs.ls("s3://lake/")] == ["s3://lake/f"]
    fs.mount("s3a://lake", "/mnt/lake", extra_configs={"fs.s3a.secret.key": "k"})
    assert fs.head("/mnt/lake/f") == "x"
    fs.put("dbfs:/mnt/lake/g", "y")
    assert (tmp_path / "bucket" / "g").read_text() == "y"
    assert ("/mnt/lake", "s3a://lake", "") in fs.mounts()
    with pytest.raises(ExecutionError, match="Directory already mounted: /mnt/lake"):
        fs.mount("s3a://lake", "/mnt/lake/")
    with pytest.raises(ExecutionError, match="is a mount point"):
        fs.rm("/mnt/lake", True)
    assert fs.refreshMounts() is True
    assert fs.unmount(mountPoint="dbfs:/mnt/lake") is True
    assert (tmp_path / "bucket" / "f").exists()
    with pytest.raises(ExecutionError, match="Directory not mounted: /mnt/lake"):
        fs.unmount("/mnt/lake")


def test_a_source_that_nothing_maps_is_an_empty_folder_and_reports_it(
    dbutils: DBUtils, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "wasbs://raw@account.blob.core.windows.net"
    assert dbutils.fs.mount(source=source, mount_point="/mnt/raw") is True
    assert f"--mount {source}=FOLDER" in capsys.readouterr().err
    assert dbutils.fs.ls("/mnt/raw") == []
    dbutils.fs.updateMount(source, "/mnt/raw")
    assert [each.source for each in dbutils.fs.mounts() if each.mountPoint == "/mnt/raw"] == [source]


def test_a_mount_hides_no_files(dbutils: DBUtils, tmp_path: Path) -> None:
    dbutils.fs.put("/mnt/raw/f", "x")
    with pytest.raises(ExecutionError, match="There are files in /mnt/raw already"):
        dbutils.fs.mount(f"file:{tmp_path}", "/mnt/raw")
    assert dbutils.fs.head("/mnt/raw/f") == "x"


def test_fs_may_be_called_as_in_scala(dbutils: DBUtils) -> None:
    assert dbutils.fs() is dbutils.fs
