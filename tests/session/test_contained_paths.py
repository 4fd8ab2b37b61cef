"""Names in code and SQL stay in their roots: Spark's file system resolves them as Python does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lakeward.errors import InvalidPathError
from lakeward.session import Settings
from lakeward.session.paths import PathMap
from tests.spellings import MARK, TEXT, spellings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOTED = tuple(
    start + way + end
    for start in (
        "dbfs:/",
        "dbfs:///",
        "dbfs://",
        "dbfs:/Volumes/",
        "/Volumes/",
        "/mnt/",
        "/FileStore/",
        "/Workspace/",
    )
    for way in ("../", "../../", "a/../../", "../../../", "./../", "..//../")
    for end in (f"server/{MARK}.db", f"{MARK}.txt", f"secrets/{MARK}.value")
)


def entries_text(settings: Settings) -> str:
    return "\n".join(f"{prefix}\t{folder}" for prefix, folder in PathMap.of(settings).entries)


def test_both_sides_resolve_every_spelling_alike(spark: SparkSession, suite_settings: Settings) -> None:
    here = PathMap.of(suite_settings)
    java = spark._jvm.lakeward.PathMap(entries_text(suite_settings))  # type: ignore[union-attr]
    compared = 0
    for path in spellings(400, seed=1):
        # Hadoop's URIs have no such characters, or the scheme of another file system.
        if "\0" in path or "\udcae" in path or not path.startswith(("/", "dbfs:/")):
            continue
        try:
            local = here.local(path)
        except InvalidPathError:
            continue
        found = java.local(path)
        if found is None:
            assert local in (path, str(java.resolved(path))), path
        else:
            compared += 1
            assert str(found.getPath()).rstrip("/") == local.rstrip("/"), path
            assert local.startswith(str(suite_settings.state)), path
    assert compared > 100


@pytest.fixture
def outside(suite_settings: Settings) -> Iterator[list[Path]]:
    """Files of the target that lie outside of its roots."""
    files = [suite_settings.state / "server" / f"{MARK}.db", suite_settings.state / f"{MARK}.txt"]
    files.append(suite_settings.state / "secrets" / f"{MARK}.value")
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text(TEXT)
    yield files
    for file in files:
        file.unlink()


def test_spark_reads_nothing_outside_of_a_root(spark: SparkSession, outside: list[Path]) -> None:
    jvm: Any = spark._jvm
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    seen = 0
    for name in ROOTED:
        path = jvm.org.apache.hadoop.fs.Path(name)
        try:
            assert not path.getFileSystem(conf).exists(path), name
        except Exception as error:  # noqa: BLE001  # the refusal of a host
            assert "Hostname not allowed in dbfs uri" in str(error), (name, error)
            seen += 1
    assert 0 < seen < len(ROOTED)


@pytest.mark.parametrize(
    "read",
    [
        lambda spark, path: spark.read.text(path).collect(),
        lambda spark, path: spark.sql(f"select * from text.`{path}`").collect(),
        lambda spark, path: spark.sql(f"select * from read_files('{path}', format => 'text')").collect(),
        lambda spark, path: spark.sql(f"list '{path}'").collect(),
        lambda spark, path: spark.read.format("binaryFile").load(path).collect(),
    ],
    ids=["reader", "path table", "read_files", "LIST", "binaryFile"],
)
def test_readers_and_sql_read_nothing_outside_of_a_root(
    spark: SparkSession, outside: list[Path], read: Callable[[SparkSession, str], list[Any]]
) -> None:
    for path in (
        f"dbfs:/../{MARK}.txt",
        f"dbfs:///../../local/{MARK}.txt",
        f"dbfs://../{MARK}.txt",
        f"dbfs:/Volumes/../../{MARK}.txt",
        f"/Volumes/../../{MARK}.txt",
        f"/mnt/../../{MARK}.txt",
    ):
        with pytest.raises(Exception) as refusal:  # noqa: PT011  # each reader has its own class
            raise AssertionError(f"{path} was read: {read(spark, path)}")
        assert not isinstance(refusal.value, AssertionError), refusal.value


def test_spark_writes_nothing_outside_of_a_root(
    spark: SparkSession, suite_settings: Settings, outside: list[Path]
) -> None:
    for number, path in enumerate(("dbfs:/../written", "dbfs:/Volumes/../../written")):
        spark.range(1).write.format("json").mode("overwrite").save(path + str(number))
    assert not list(suite_settings.state.glob("written*"))
    assert len(list(suite_settings.dbfs.glob("written*"))) == 2
    with pytest.raises(Exception, match="Hostname not allowed"):
        spark.range(1).write.format("json").save("dbfs://../written2")


SLOW = [
    pytest.param(name, marks=pytest.mark.slow)
    for name in ("../x", "../../x", "a/../../../x", ".", "a/b", "/x")
]


@pytest.mark.parametrize("name", ["../../../dbfs/x", "..", *SLOW])
def test_a_name_in_sql_is_one_folder_of_its_schema(
    spark: SparkSession, suite_settings: Settings, name: str
) -> None:
    def places() -> set[Path]:
        """Everything in the target but what lies in its schemas."""
        state, warehouse, volumes = suite_settings.state, suite_settings.warehouse, suite_settings.volumes
        return {*state.iterdir(), *state.parent.iterdir(), *warehouse.iterdir(), *volumes.glob("*")}

    spark.sql("create table if not exists main.default.within (id int)")
    before = places()
    for statement in (
        f"create table main.default.`{name}` (id int)",
        f"create table main.default.`{name}` as select 1 as id",
        f"create table main.default.`{name}` using parquet as select 1 as id",
        f"create or replace table main.default.`{name}` as select 1 as id",
        f"create table main.default.`{name}` like main.default.within",
        f"alter table main.default.within rename to main.default.`{name}`",
        f"create view main.default.`{name}` as select 1 as id",
        f"create volume main.default.`{name}`",
    ):
        with pytest.raises(Exception, match=r"INVALID_SCHEMA_OR_RELATION_NAME|INVALID_NAME"):
            spark.sql(statement)
    with suppress(Exception):
        spark.range(1).write.saveAsTable(f"main.default.`{name}`")
    for statement in (
        f"create schema main.`{name}`",
        f"create table main.`{name}`.t (id int)",
        f"drop schema main.`{name}` cascade",
        f"create catalog `{name}`",
        f"drop catalog `{name}` cascade",
        f"drop table main.default.`{name}`",
        f"drop volume main.default.`{name}`",
    ):
        with suppress(Exception):
            spark.sql(statement)
    assert places() == before, name
    spark.sql("drop table main.default.within")
