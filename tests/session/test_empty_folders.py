"""An error about files without a schema names the local folder that has no files, and the next step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException

from lakeward.error_formatting import describe_error
from lakeward.session import PathMap, Settings
from lakeward.session.missing_folders import empty_folder_hint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPELLINGS = ["/mnt/raw/in", "dbfs:/mnt/raw/in", "/mnt/raw/in/", "/mnt/raw/in/day=1"]
EMPTY: dict[str, list[str]] = {
    "nothing": [],
    "hidden": ["_SUCCESS", ".crc", "_tmp/a.csv"],
    "folders": ["a/b/"],
}


@pytest.fixture
def mounted(tmp_path: Path) -> tuple[Path, PathMap]:
    folder = tmp_path / "raw"
    folder.joinpath("in", "day=1").mkdir(parents=True)
    settings = Settings.here(tmp_path, environ={}).with_(mounts=(("/mnt/raw", str(folder)),))
    return folder / "in", PathMap.of(settings)


@pytest.mark.parametrize("content", EMPTY)
@pytest.mark.parametrize("path", SPELLINGS)
def test_the_folder_of_a_mount_without_files(mounted: tuple[Path, PathMap], path: str, content: str) -> None:
    folder, paths = mounted
    for name in EMPTY[content]:
        place = folder / "day=1" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir(parents=True) if name.endswith("/") else place.write_text("a")
    hint = empty_folder_hint(["/mnt/other", path], paths)
    assert hint is not None and str(folder) in hint
    assert f"--mount {path.removeprefix('dbfs:').rstrip('/')}=FOLDER" in hint


@pytest.mark.parametrize("name", ["a.csv", "day=1/a.csv", "day=1/_hour=2/a.csv"])
def test_folders_with_files_and_other_paths_have_no_hint(mounted: tuple[Path, PathMap], name: str) -> None:
    folder, paths = mounted
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("a")
    assert empty_folder_hint(["/mnt/raw/in", "/mnt/raw/in/*", "s3://b/x", "/mnt/raw/none"], paths) is None


READS: dict[str, Any] = {
    "load": lambda spark, path: spark.read.format("csv").load(path),
    "option path": lambda spark, path: spark.read.format("json").option("path", path).load(),
    "csv": lambda spark, path: spark.read.option("header", "true").csv(path),
    "json": lambda spark, path: spark.read.json([path]),
    "parquet": lambda spark, path: spark.read.parquet(path),
    "orc": lambda spark, path: spark.read.orc(path),
    "xml": lambda spark, path: spark.read.xml(path, rowTag="a"),
    "sql": lambda spark, path: spark.sql(f"SELECT * FROM csv.`{path}`"),
    "join": lambda spark, path: spark.sql(f"SELECT * FROM text.`dbfs:/filled` a JOIN csv.`{path}` b"),
}


@pytest.mark.parametrize("path", ["dbfs:/empty_folder", "{folder}"])
@pytest.mark.parametrize("read", READS)
def test_the_error_of_every_reader_has_it(
    spark: SparkSession, suite_settings: Settings, tmp_path: Path, read: str, path: str
) -> None:
    (suite_settings.dbfs / "empty_folder").mkdir(parents=True, exist_ok=True)
    (suite_settings.dbfs / "filled").mkdir(exist_ok=True)
    (suite_settings.dbfs / "filled" / "a.txt").write_text("a")
    place = path.format(folder=tmp_path)
    with pytest.raises(AnalysisException) as caught:
        READS[read](spark, place)
    assert describe_error(caught.value).condition == "UNABLE_TO_INFER_SCHEMA"
    local = suite_settings.dbfs / "empty_folder" if path.startswith("dbfs") else tmp_path
    assert f"{local} " in str(caught.value) and "has no files that Spark reads" in str(caught.value)
    assert ("--mount /empty_folder=FOLDER" in str(caught.value)) == path.startswith("dbfs")


def test_a_folder_with_files_of_another_kind_is_not_named(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("")
    with pytest.raises(AnalysisException) as caught:
        spark.read.option("pathGlobFilter", "*.csv").csv(str(tmp_path))
    assert "has no files" not in str(caught.value)
