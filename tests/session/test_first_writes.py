"""The first write below each platform path creates the folders that it is stored in."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakeward.session import PATH_RULES, Settings, dbfs_paths, session
from tests.session.test_path_rules import place, spelled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WRITES: dict[str, Callable[[SparkSession, str], None]] = {
    "json": lambda spark, path: spark.range(1).write.json(path),
    "delta": lambda spark, path: spark.range(1).write.format("delta").save(path),
    "checkpoint": lambda spark, path: (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", 1)
        .load()
        .writeStream.format("noop")
        .option("checkpointLocation", path)
        .trigger(once=True)
        .start()
        .awaitTermination()
    ),
}


@pytest.fixture
def empty(suite_settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    """Settings of a lakehouse without any folder, and a mount to a folder whose parents do not exist."""
    settings = Settings.here(
        tmp_path / "new", environ={}, mounts=(("/mnt/given", str(tmp_path / "data" / "of" / "mount")),)
    )
    session(settings)
    yield settings
    session(suite_settings)


@pytest.mark.filterwarnings("ignore:.*Trigger.Once.*")
@pytest.mark.parametrize("entry", ["platform", "script"])
@pytest.mark.parametrize(
    "write", ["json", *(pytest.param(write, marks=pytest.mark.slow) for write in WRITES if write != "json")]
)
def test_the_first_write_creates_the_folders(empty: Settings, tmp_path: Path, write: str, entry: str) -> None:
    spark = session(empty)
    hive = empty.warehouse / "hive_metastore"
    for rule in PATH_RULES:
        if rule.spelling == "x":  # relative to the folder of the tests
            continue
        with dbfs_paths() if entry == "platform" else nullcontext():
            kind = rule.platform if entry == "platform" else rule.script
            path = spelled(rule, tmp_path, uuid.uuid4().hex)
            expected = Path(place(kind, rule, empty, path))
            if kind == "volume":
                # Files are written into volumes that exist.
                (empty.volumes / "c" / "s" / "v").mkdir(parents=True)
            WRITES[write](spark, f"{path}/deep")
            assert any((expected / "deep").iterdir()), path
        # The next write is the first one, too.
        for folder in (expected, empty.dbfs, empty.volumes, empty.workspace, hive, tmp_path / "data"):
            shutil.rmtree(folder, ignore_errors=True)
