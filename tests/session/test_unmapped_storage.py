"""Storage that is mapped to no folder: one condition for every scheme and every reader and writer."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakeward.autoloader.discovery.storage import open_storage
from lakeward.dbutils import DBUtils
from lakeward.errors import CloudFilesError
from lakeward.session.configuration.session_conf import file_system_conf, has_connector, merge_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

URIS = (
    *(
        "s3://bucket/x",
        "s3a://bucket/x",
        "s3n://bucket/x",
        "gs://bucket/x",
        "r2://bucket@account/x",
        "adl://x/y",
    ),
    *(
        "abfss://c@a.dfs.core.windows.net/x",
        "abfs://c@a.dfs.core.windows.net/x",
        "wasbs://c@a/x",
        "wasb://c@a/x",
    ),
)
OF_ARROW = ("s3://", "s3a://", "s3n://", "gs://")


def _stream(spark: SparkSession, uri: str, folder: Path) -> object:
    reader = spark.readStream.format("cloudFiles").option("cloudFiles.format", "text").load(uri)
    writer = reader.writeStream.format("noop").option("checkpointLocation", str(folder / "checkpoint"))
    return writer.trigger(availableNow=True).start().awaitTermination()


def _copy_into(spark: SparkSession, uri: str, _: Path) -> object:
    table = f"main.default.copied_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE TABLE {table} (value STRING)")
    try:
        return spark.sql(f"COPY INTO {table} FROM '{uri}' FILEFORMAT = TEXT")
    finally:
        spark.sql(f"DROP TABLE {table}")


USERS: dict[str, Callable[[SparkSession, str, Path], object]] = {
    "spark.read": lambda spark, uri, _: spark.read.text(uri).count(),
    "spark.read delta": lambda spark, uri, _: spark.read.load(uri),
    "readStream": lambda spark, uri, _: spark.readStream.format("text").load(uri),
    "write": lambda spark, uri, _: spark.range(1).write.save(uri),
    "write parquet": lambda spark, uri, _: spark.range(1).write.parquet(uri),
    "SQL on files": lambda spark, uri, _: spark.sql(f"SELECT * FROM text.`{uri}`"),
    "CREATE TABLE": lambda spark, uri, _: spark.sql(f"CREATE TABLE main.default.unmapped LOCATION '{uri}'"),
    "dbutils.fs.ls": lambda _spark, uri, _: DBUtils().fs.ls(uri),
    "dbutils.fs.put": lambda _spark, uri, _: DBUtils().fs.put(uri, "text"),
    "Auto Loader": _stream,
    "COPY INTO": _copy_into,
    "read_files": lambda spark, uri, _: spark.sql(f"SELECT * FROM read_files('{uri}', format => 'text')"),
}
BY_ARROW = ("Auto Loader", "COPY INTO", "read_files")


# Arrow reads S3 and GCS where it finds credentials: what happens then depends on the machine.
CASES = [(uri, user) for uri in URIS for user in USERS if not (user in BY_ARROW and uri.startswith(OF_ARROW))]


@pytest.mark.parametrize(("uri", "user"), CASES)
def test_every_user_of_unmapped_storage_fails_with_the_way_out(
    spark: SparkSession, tmp_path: Path, uri: str, user: str
) -> None:
    with pytest.raises(Exception, match="STORAGE_NOT_MAPPED") as raised:
        USERS[user](spark, uri, tmp_path)
    message = str(raised.value)
    root = "/".join(uri.split("/")[:3])
    assert f"`--mount {root}=FOLDER`" in message
    assert "Exception in thread" not in message and "\tat " not in message


@pytest.mark.parametrize("uri", [each for each in URIS if not each.startswith(OF_ARROW)])
def test_without_credentials_no_client_of_arrow_is_tried(uri: str) -> None:
    """The client for Azure ends the process if it finds none."""
    with pytest.raises(CloudFilesError, match="STORAGE_NOT_MAPPED"):
        open_storage(uri, {})


def test_a_mount_or_a_connector_takes_the_place_of_the_refusal(tmp_path: Path) -> None:
    unmapped = "lakeward.UnmappedFileSystem"
    conf = file_system_conf([("s3://bucket", "/data")])
    assert conf["spark.hadoop.fs.s3.impl"] == "lakeward.MappedFileSystem"
    assert conf["spark.hadoop.fs.gs.impl"] == unmapped
    assert unmapped not in file_system_conf([], connector=True).values()
    users = {"spark.hadoop.fs.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem"}
    assert merge_conf(conf, users)["spark.hadoop.fs.gs.impl"] == users["spark.hadoop.fs.gs.impl"]


@pytest.mark.parametrize(
    ("conf", "jar", "expected"),
    [
        ({}, "hadoop-client-api-3.4.2.jar", False),
        ({}, "hadoop-aws-3.4.2.jar", True),
        ({"spark.jars.packages": "org.apache.hadoop:hadoop-azure:3.4.2"}, "x.jar", True),
        ({"spark.jars": "/opt/gcs-connector-hadoop3.jar"}, "x.jar", True),
        ({"spark.driver.extraClassPath": "/opt/hadoop-cloud/*"}, "x.jar", True),
        ({"spark.jars.packages": "org.postgresql:postgresql:42.7"}, "x.jar", False),
    ],
)
def test_connectors_are_known_by_their_jars(
    tmp_path: Path, conf: dict[str, str], jar: str, expected: bool
) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / jar).touch()
    assert has_connector(conf, tmp_path) is expected
