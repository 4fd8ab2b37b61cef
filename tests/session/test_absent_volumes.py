"""Files are written into volumes that exist: a write does not make a volume, a schema or a catalog."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakeward.dbutils import dbutils
from lakeward.errors import ConfigurationError
from lakeward.session import Settings, mapped_paths
from lakeward.volume_folders import absent_volume
from lakeward.workspace import server

Writer = Callable[[DataFrame, str], Any]


def _stream(frame: DataFrame, path: str) -> None:
    """Write a stream whose checkpoint alone is in the volume."""
    rate = frame.sparkSession.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    query = rate.writeStream.format("noop").trigger(availableNow=True)
    query.option("checkpointLocation", path).start().awaitTermination()


WRITERS: dict[str, Writer] = {
    "parquet": lambda frame, path: frame.write.mode("append").parquet(path),
    "csv": lambda frame, path: frame.write.mode("overwrite").csv(path),
    "json": lambda frame, path: frame.write.json(path),
    "delta": lambda frame, path: frame.write.format("delta").save(path),
    "directory of SQL": lambda frame, path: frame.sparkSession.sql(
        f"INSERT OVERWRITE DIRECTORY '{path}' USING json SELECT 1 AS a"
    ),
    "checkpoint": _stream,
}
ABSENT = {
    "volume": ("/Volumes/main/default/absent/x", "`main`.`default`.`absent`"),
    "volume itself": ("/Volumes/main/default/absent", "`main`.`default`.`absent`"),
    "schema": ("dbfs:/Volumes/main/absent/v/x", "`main`.`absent`.`v`"),
    "catalog": ("/Volumes/absent/s/v/x", "`absent`.`s`.`v`"),
    "no volume": ("/Volumes/main/absent", "/Volumes/main/absent"),
}


@pytest.fixture
def present(spark: SparkSession) -> Iterator[str]:
    spark.sql("CREATE VOLUME IF NOT EXISTS main.default.present")
    yield "/Volumes/main/default/present"
    spark.sql("DROP VOLUME main.default.present")


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize(("path", "named"), ABSENT.values(), ids=ABSENT)
def test_spark_makes_no_volume(
    spark: SparkSession, suite_settings: Settings, writer: Writer, path: str, named: str
) -> None:
    with pytest.raises(PySparkException) as refused:
        writer(spark.range(1), path)
    assert "UC_VOLUME_NOT_FOUND" in str(refused.value)
    assert named in str(refused.value)
    assert "CREATE VOLUME" in str(refused.value)
    assert not list(suite_settings.volumes.rglob("absent"))


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_folders_of_a_volume_are_made(spark: SparkSession, present: str, writer: Writer) -> None:
    writer(spark.range(1), f"{present}/a/b")
    assert os.listdir(f"{present}/a/b")


OVERWRITERS: dict[str, Writer] = {
    **{
        each: lambda frame, path, each=each: frame.write.format(each).mode("overwrite").save(path)
        for each in ("parquet", "csv", "json", "orc", "delta")
    },
    "directory of SQL": WRITERS["directory of SQL"],
}


@pytest.mark.parametrize("writer", OVERWRITERS.values(), ids=OVERWRITERS)
@pytest.mark.parametrize("spelling", ["/Volumes/{}", "dbfs:/Volumes/{}", "/Volumes/{}/"])
def test_a_volume_itself_can_be_overwritten(
    spark: SparkSession, present: str, writer: Writer, spelling: str
) -> None:
    path = spelling.format(present.removeprefix("/Volumes/"))
    for _ in range(2):
        writer(spark.range(1), path)
        assert any(name.startswith("part-") for name in os.listdir(present))


def _delete_by_hadoop(spark: SparkSession, path: str) -> None:
    place = spark._jvm.org.apache.hadoop.fs.Path(path)
    assert place.getFileSystem(spark._jsc.hadoopConfiguration()).delete(place, True)


REMOVERS: dict[str, Callable[[SparkSession, str], object]] = {
    "dbutils": lambda spark, path: dbutils().fs.rm(path, True),
    "shutil": lambda spark, path: shutil.rmtree(path, ignore_errors=True),
    "hadoop": _delete_by_hadoop,
}


@pytest.mark.parametrize("remove", REMOVERS.values(), ids=REMOVERS)
def test_a_volume_that_is_removed_as_a_folder_is_empty(
    spark: SparkSession, present: str, remove: Callable[[SparkSession, str], object]
) -> None:
    spark.range(1).write.parquet(f"{present}/a/b")
    Path(f"{present}/c.txt").write_text("c")
    remove(spark, present)
    assert os.listdir(present) == []
    spark.range(1).write.parquet(f"{present}/a/b")
    remove(spark, f"{present}/a")
    assert os.listdir(present) == []


def test_the_folder_of_a_volume_is_not_removed(present: str) -> None:
    with pytest.raises(PermissionError, match="DROP VOLUME"):
        os.rmdir(present)
    assert dbutils().fs.rm(present) and os.path.isdir(present)


def test_a_link_is_the_volume(tmp_path: Path) -> None:
    (tmp_path / "volumes/main/default/real").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "volumes/main/default/linked").symlink_to(tmp_path / "elsewhere")
    volumes = tmp_path / "volumes"
    assert absent_volume(volumes, volumes / "main/default/linked/x") is None
    assert absent_volume(volumes, volumes) is None
    assert absent_volume(volumes, tmp_path / "volumes2/a/b/c") is None
    assert absent_volume(volumes, volumes / "main/default/other/x/y") == ("main", "default", "other")


def _start_server(settings: Settings) -> None:
    lock = server.lock_file(settings)
    lock.parent.mkdir(parents=True)
    with server.sole_server(lock, settings), pytest.raises(ConfigurationError, match="WORKSPACE_RUNNING"):
        server.serve(settings, ready=lambda *_: None)


def _map_paths(settings: Settings) -> None:
    with mapped_paths(settings):
        pass


# A session maps paths, too; tasks, notebooks and scripts do so before it.
STARTS = {"paths": _map_paths, "server": _start_server}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_folders_that_kept_the_case_of_a_name_get_the_name(
    start: Callable[[Settings], None], tmp_path: Path
) -> None:
    settings = Settings.here(tmp_path, environ={})
    for folder in ("Main/Sales/Raw", "main2/s/Both", "main2/s/both"):
        (settings.volumes / folder).mkdir(parents=True)
        (settings.volumes / folder / "Part-1.json").write_text(folder)
    start(settings)
    found = {str(file.relative_to(settings.volumes)): file.read_text() for file in tmp_path.rglob("Part-*")}
    assert found == {
        "main/sales/raw/Part-1.json": "Main/Sales/Raw",
        "main2/s/Both/Part-1.json": "main2/s/Both",
        "main2/s/both/Part-1.json": "main2/s/both",
    }
