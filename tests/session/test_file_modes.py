"""Files and folders that Spark creates have the modes of the umask, and need no child process for that."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lakeward.session import Settings
from lakeward.spark_internals import jvm_view, session_state

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def hadoop(spark: SparkSession, path: str) -> tuple[Any, Any, Any]:
    jvm: Any = jvm_view(spark)
    name = jvm.org.apache.hadoop.fs.Path(path)
    return jvm.org.apache.hadoop.fs, name, name.getFileSystem(session_state(spark).newHadoopConf())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("bits", [0o644, 0o600, 0o750, 0o111, 0o000, 0o1777])
@pytest.mark.parametrize("scheme", ["file", "dbfs"])
def test_a_mode_is_set_as_chmod_sets_it(
    spark: SparkSession, suite_settings: Settings, tmp_path: Path, scheme: str, bits: int
) -> None:
    root = tmp_path if scheme == "file" else suite_settings.state / "dbfs" / tmp_path.name
    root.mkdir(parents=True, exist_ok=True)
    fs, path, system = hadoop(spark, f"file://{root}/f" if scheme == "file" else f"dbfs:/{tmp_path.name}/f")
    (root / "f").touch()
    system.setPermission(path, fs.permission.FsPermission(f"{bits:04o}"))
    assert mode(root / "f") == bits


def test_new_files_and_folders_have_the_modes_of_the_umask(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(1).write.format("delta").save(f"file://{tmp_path}/made/table")
    data = next((tmp_path / "made" / "table").glob("*.parquet"))
    assert mode(data) == 0o666 & ~_umask()
    assert mode(data.parent) == 0o777 & ~_umask()


def test_a_mode_of_a_missing_file_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    fs, path, system = hadoop(spark, f"file://{tmp_path}/none")
    with pytest.raises(Exception, match="NoSuchFileException"):
        system.setPermission(path, fs.permission.FsPermission("0644"))


def _umask() -> int:
    """Return the umask of the JVM's parent, this process: Hadoop's own default is the same 022."""
    before = os.umask(0o022)
    os.umask(before)
    return before
