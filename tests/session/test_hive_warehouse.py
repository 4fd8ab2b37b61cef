"""`dbfs:/user/hive/warehouse` holds the tables of `hive_metastore`, in every spelling, for every reader.

Source: https://docs.databricks.com/aws/en/dbfs/root-locations
"""

from __future__ import annotations

import itertools
import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from delta.tables import DeltaTable

from lakeward import dbutils as dbutils_package
from lakeward.session import Settings, current_settings, dbfs_paths, link_hive_schemas, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = "/user/hive/warehouse"
IN_SPARK = (f"dbfs:{ROOT}", ROOT, f"/dbfs{ROOT}", f"dbfs://{ROOT}", "dbfs:/user//hive/./warehouse/")
SCHEMA = "sales_" + uuid.uuid4().hex[:8]
# Where a table is -> its name, its path below the folder of the warehouse.
TABLES = {
    "schema default": ("hive_metastore.default.orders_x", "orders_x"),
    "other schema": (f"hive_metastore.{SCHEMA}.orders_x", f"{SCHEMA}.db/orders_x"),
}


@pytest.fixture(scope="module")
def tables(suite_settings: Settings) -> Iterator[SparkSession]:
    spark = session(suite_settings)
    spark.sql(f"CREATE SCHEMA hive_metastore.{SCHEMA}")
    for name, _ in TABLES.values():
        spark.sql(f"CREATE OR REPLACE TABLE {name} AS SELECT 7 AS a")
    yield spark
    spark.sql("DROP TABLE hive_metastore.default.orders_x")
    spark.sql(f"DROP SCHEMA hive_metastore.{SCHEMA} CASCADE")


def _names(path: str) -> list[str]:
    return [each.name for each in dbutils_package.dbutils().fs.ls(path)]


READERS: dict[str, Callable[[SparkSession, str], object]] = {
    "load": lambda spark, path: spark.read.format("delta").load(path).first()[0] == 7,
    "SQL": lambda spark, path: spark.sql(f"SELECT a FROM delta.`{path}`").first()[0] == 7,
    "history": lambda spark, path: spark.sql(f"DESCRIBE HISTORY delta.`{path}`").first()["version"] == 0,
    "history of a text": lambda spark, path: spark.sql(f"DESCRIBE HISTORY '{path}'").count() == 1,
    "detail": lambda spark, path: spark.sql(f"DESCRIBE DETAIL delta.`{path}`").first()["format"] == "delta",
    "DeltaTable": lambda spark, path: DeltaTable.forPath(spark, path).history().count() == 1,
    "is a table": lambda spark, path: DeltaTable.isDeltaTable(spark, path),
    "files": lambda spark, path: (
        spark.sql(f"SELECT a FROM read_files('{path}/*.parquet', format => 'parquet')").first()[0] == 7
    ),
    "ls": lambda _, path: "_delta_log/" in _names(path),
    "ls of the log": lambda _, path: "00000000000000000000.json" in _names(f"{path}/_delta_log"),
    "LIST": lambda spark, path: spark.sql(f"LIST '{path}'").count() >= 2,
    "stream": lambda spark, path: spark.readStream.format("delta").load(path).schema.names == ["a"],
}


@pytest.mark.parametrize("entry", ["platform", "script"])
@pytest.mark.parametrize("table", TABLES)
def test_every_reader_finds_a_managed_table_by_every_spelling(
    tables: SparkSession, entry: str, table: str
) -> None:
    failed = []
    with dbfs_paths() if entry == "platform" else nullcontext():
        for root, (reader, read) in itertools.product(IN_SPARK, READERS.items()):
            path = f"{root}/{TABLES[table][1]}"
            try:
                good = read(tables, path)
            except Exception as error:  # noqa: BLE001  # all combinations are reported together
                good = str(error).splitlines()[0][:150]
            if good is not True:
                failed.append((reader, path, good))
    assert not failed, "\n".join(map(str, failed))


@pytest.mark.parametrize("table", TABLES)
def test_functions_of_python_find_it_below_dbfs(tables: SparkSession, table: str) -> None:
    folder = f"/dbfs{ROOT}/{TABLES[table][1]}"
    assert "_delta_log" in os.listdir(folder)
    assert Path(f"{folder}/_delta_log/00000000000000000000.json").is_file()
    assert len(glob(f"{folder}/*.parquet")) == 1
    assert list(pd.read_parquet(glob(f"{folder}/*.parquet")[0])["a"]) == [7]
    listed = subprocess.run(f"ls {folder}/_delta_log", shell=True, capture_output=True, check=True)
    assert listed.stdout.startswith(b"00000000000000000000")
    # Without /dbfs it is a path of the driver's disk, as on the platform.
    assert not os.path.exists(f"{ROOT}/{TABLES[table][1]}")


def test_the_folder_lists_tables_of_default_and_a_folder_per_schema(tables: SparkSession) -> None:
    assert {"orders_x/", f"{SCHEMA}.db/"} <= {*_names(f"dbfs:{ROOT}")}
    assert _names(f"dbfs:{ROOT}/{SCHEMA}.db") == ["orders_x/"]
    assert ".objects/" not in _names(f"dbfs:{ROOT}")
    assert {"orders_x", f"{SCHEMA}.db"} <= {*os.listdir(f"/dbfs{ROOT}")}
    # A folder of a schema is no table.
    listed = {row["tableName"] for row in tables.sql("SHOW TABLES IN hive_metastore.default").collect()}
    assert not any(each.endswith(".db") for each in listed)


def test_what_is_written_by_path_is_in_the_table(tables: SparkSession) -> None:
    for name, below in TABLES.values():
        spare = name.replace("orders_x", "written")
        tables.sql(f"CREATE TABLE {spare} (a INT)")
        path = f"dbfs:{ROOT}/{below.replace('orders_x', 'written')}"
        tables.sql("SELECT 1 AS a").write.format("delta").mode("append").save(path)
        tables.sql(f"INSERT INTO delta.`{path}` VALUES (2)")
        assert {row[0] for row in tables.table(spare).collect()} == {1, 2}
        tables.sql(f"DROP TABLE {spare}")
        with pytest.raises(Exception, match="No such file or directory"):
            _names(path)


def test_locations_that_statements_show_can_be_read_back(tables: SparkSession) -> None:
    for name, _ in TABLES.values():
        shown = {row[0]: row[1] for row in tables.sql(f"DESCRIBE EXTENDED {name}").collect()}
        detail = tables.sql(f"DESCRIBE DETAIL {name}").first()
        assert detail is not None
        for location in (shown["Location"], detail["location"]):
            assert tables.read.format("delta").load(location).count() == 1
            assert "_delta_log/" in _names(location)


def test_folders_of_schemas_follow_the_schemas(tables: SparkSession) -> None:
    fs, name = dbutils_package.dbutils().fs, "gone_" + uuid.uuid4().hex[:8]
    tables.sql(f"CREATE SCHEMA hive_metastore.{name}")
    assert f"{name}.db/" in _names(f"dbfs:{ROOT}")
    tables.sql(f"DROP SCHEMA hive_metastore.{name}")
    assert f"{name}.db/" not in _names(f"dbfs:{ROOT}")
    tables.sql(f"CREATE SCHEMA hive_metastore.{name}")
    tables.sql(f"CREATE TABLE hive_metastore.{name}.t (a INT)")
    assert fs.rm(f"dbfs:{ROOT}/{name}.db", True)
    assert not any(each.startswith(name) for each in _names(f"dbfs:{ROOT}"))
    assert "_delta_log/" in _names(f"dbfs:{ROOT}/{SCHEMA}.db/orders_x")


def test_a_schema_with_a_location_has_no_folder_there(tables: SparkSession, tmp_path: Path) -> None:
    name = "placed_" + uuid.uuid4().hex[:8]
    tables.sql(f"CREATE SCHEMA hive_metastore.{name} LOCATION '{tmp_path}'")
    settings = current_settings()
    assert settings is not None
    for _ in ("made by Spark's catalog", "seen by the next session"):
        assert f"{name}.db/" not in _names(f"dbfs:{ROOT}")
        link_hive_schemas(settings.warehouse)
    # The link that an earlier version made is removed.
    (settings.warehouse / "hive_metastore" / "default" / f"{name}.db").symlink_to(f"../{name}")
    link_hive_schemas(settings.warehouse)
    assert f"{name}.db/" not in _names(f"dbfs:{ROOT}")
    tables.sql(f"DROP SCHEMA hive_metastore.{name}")


def test_schemas_of_other_processes_and_older_lakehouses_get_their_folder(tmp_path: Path) -> None:
    catalog = tmp_path / "hive_metastore"
    (catalog / "bronze" / "t" / "_delta_log").mkdir(parents=True)
    (catalog / ".objects").mkdir()
    (catalog / "default").mkdir()
    (catalog / "default" / "old.db").symlink_to("../old")
    for _ in range(2):
        link_hive_schemas(tmp_path)
        assert os.listdir(catalog / "default") == ["bronze.db"]
        assert (catalog / "default" / "bronze.db" / "t" / "_delta_log").is_dir()
    link_hive_schemas(tmp_path / "missing")


def test_a_mount_of_the_folder_wins(tmp_path: Path) -> None:
    from lakeward.session import PathMap

    mounts = ((f"dbfs:{ROOT}", str(tmp_path / "m")),)
    paths = PathMap.of(Settings.here(tmp_path, environ={}, mounts=mounts))
    for root in (f"dbfs:{ROOT}", f"/dbfs{ROOT}"):
        assert paths.local(f"{root}/s.db/t") == f"{tmp_path}/m/s.db/t"


def test_the_folder_is_that_of_the_sessions_warehouse(tables: SparkSession) -> None:
    settings = current_settings()
    assert settings is not None
    assert (settings.warehouse / "hive_metastore" / SCHEMA / "orders_x" / "_delta_log").is_dir()
