"""Every place, in every spelling, through every reader and writer, names the same files."""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Callable, Iterator
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from pyarrow import json as arrow_json

from lakeward.session import Settings, ensure_schema, session
from lakeward.session.paths import PathMap
from tests.lanes import sampled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Where a path may lead -> (path as the user writes it, prefix that `--mount` takes or None).
PLACES = {
    "mounted volume": ("/Volumes/main/default/mounted", "/Volumes/main/default/mounted"),
    "mounted volume by URI": ("/Volumes/main/default/by_uri", "dbfs:/Volumes/main/default/by_uri"),
    "mounted datasets": ("/databricks-datasets", "/databricks-datasets"),
    "mount point": ("/mnt/raw", "/mnt/raw"),
    "mount point by URI": ("/mnt/by_uri", "dbfs:/mnt/by_uri"),
    "mount point in /dbfs": ("/mnt/by_dbfs", "/dbfs/mnt/by_dbfs"),
    "any absolute path": ("/data/landing", "/data/landing"),
    "bucket": ("s3://bucket/raw", "s3://bucket"),
    "container": ("abfss://c@a.dfs.core.windows.net/raw", "abfss://c@a.dfs.core.windows.net"),
    "volume": ("/Volumes/main/default/plain", None),
    "DBFS mount point": ("/mnt/plain", None),
    "FileStore": ("/FileStore/plain", None),
}
FOLDERS = ("plain", "with blank", "100%20", "größe-日本")


def spellings(path: str) -> list[str]:
    """Return the names of one place: URIs in Spark, `/dbfs` in Python, with and without details."""
    if "://" in path:
        scheme, _, rest = path.partition("://")
        others = {"s3": ("s3a", "s3n"), "abfss": ("abfs",)}[scheme]
        return [f"{each}://{rest}" for each in (scheme, *others)]
    doubled = path.replace("/", "//").removeprefix("/")
    # Spark reads `/dbfs/…` as a path of DBFS, too. A slash doubled at the start would name a host.
    return [path, f"dbfs:{path}", f"dbfs://{path}", f"/dbfs{path}", doubled]


@pytest.mark.parametrize("place", PLACES)
def test_all_spellings_of_a_place_are_one_folder(place: str, tmp_path: Path) -> None:
    path, prefix = PLACES[place]
    mounts = ((prefix, str(tmp_path / "mounted")),) if prefix else ()
    here = PathMap.of(Settings.here(tmp_path, environ={}, mounts=mounts))
    folders = {each: here.local(f"{each}/x.json") for each in spellings(path)}
    assert len(set(folders.values())) == 1, folders
    assert next(iter(folders.values())).startswith(str(tmp_path))
    for folder in folders.values():
        assert here.local(here.user(folder)) == folder


@pytest.fixture(scope="module")
def mounted(suite_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The shared session with a folder of its own behind every prefix of PLACES."""
    folder = tmp_path_factory.mktemp("mounts")
    mounts = tuple(
        (prefix, str(folder / str(i))) for i, (_, prefix) in enumerate(PLACES.values()) if prefix is not None
    )
    settings = suite_settings.with_(mounts=mounts, target="mounted")
    spark = session(settings)
    ensure_schema(spark, "main", "default")
    local = PathMap.of(settings).local
    for (path, _), name in itertools.product(PLACES.values(), FOLDERS):
        file = Path(local(f"{path}/{name}/a.json"))
        file.parent.mkdir(parents=True)
        file.write_text('{"a": 1}\n')
    yield spark
    session(suite_settings)


def _table(spark: SparkSession) -> str:
    name = "t" + uuid.uuid4().hex
    spark.sql(f"CREATE TABLE {name} (a BIGINT)")
    return name


def _copied(spark: SparkSession, path: str) -> int:
    name = _table(spark)
    spark.sql(f"COPY INTO {name} FROM '{path}' FILEFORMAT = JSON")
    return spark.table(name).count()


def _streamed(spark: SparkSession, path: str, name: str) -> int:
    """Read `path/name` with Auto Loader; checkpoint and schema location are written below `path`, too."""
    state, table = f"{path}/{uuid.uuid4().hex}", _table(spark)
    stream = (
        spark.readStream.format("cloudFiles")
        .options(**{"cloudFiles.format": "json", "cloudFiles.schemaLocation": f"{state}/schema"})
        .load(f"{path}/{name}")
        .selectExpr("CAST(a AS BIGINT) AS a")
    )
    query = stream.writeStream.option("checkpointLocation", f"{state}/cp").trigger(availableNow=True)
    query.toTable(table).awaitTermination()
    return spark.table(table).count()


def _saved(spark: SparkSession, path: str) -> int:
    out = f"{path}/{uuid.uuid4().hex}"
    spark.range(1).write.format("delta").save(out)
    return spark.read.format("delta").load(out).count()


BATCH: dict[str, Callable[[SparkSession, str], int]] = {
    "spark.read": lambda spark, path: spark.read.schema("a BIGINT").json(path).where("a = 1").count(),
    "glob, slash at the end, file": lambda spark, path: (
        spark.read.text([f"{path}/*.json", f"{path}/", f"{path}/a.json"]).count() - 2
    ),
    "SQL": lambda spark, path: spark.sql(f"SELECT * FROM json.`{path}`").count(),
    "read_files": lambda spark, path: spark.sql(
        f"SELECT * FROM read_files('{path}', format => 'json', schema => 'a BIGINT')"
    ).count(),
}


QUICK = ("mounted volume", "mounted datasets", "mount point")


@pytest.mark.parametrize("place", sampled(PLACES, *QUICK))
def test_every_batch_reader_takes_every_spelling(mounted: SparkSession, place: str) -> None:
    names = spellings(PLACES[place][0])
    # Every spelling with every reader, and every kind of folder name in every spelling over the places.
    cases = [
        (user, f"{spelling}/{FOLDERS[(i + j) % len(FOLDERS)]}")
        for i, spelling in enumerate(names)
        for j, user in enumerate(BATCH)
    ]
    failed = []
    for user, path in cases:
        try:
            rows = BATCH[user](mounted, path)
        except Exception as error:  # noqa: BLE001  # all combinations are reported together
            rows = str(error).splitlines()[0][:150]
        if rows != 1:
            failed.append((user, path, rows))
    assert not failed, "\n".join(map(str, failed))


@pytest.mark.parametrize("place", sampled(PLACES, QUICK[0]))
def test_loads_streams_and_tables_take_every_spelling(mounted: SparkSession, place: str) -> None:
    path = PLACES[place][0]
    assert _streamed(mounted, path, "plain") == 1
    for spelling in spellings(path):
        assert _copied(mounted, f"{spelling}/with blank") == 1, spelling
        assert _saved(mounted, spelling) == 1, spelling


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_streams_take_every_spelling(mounted: SparkSession, place: str) -> None:
    for spelling, name in itertools.product(spellings(PLACES[place][0]), FOLDERS):
        assert _streamed(mounted, spelling, name) == 1, (spelling, name)


@pytest.mark.parametrize("place", [each for each in PLACES if "://" not in PLACES[each][0]])
def test_every_function_of_python_takes_every_spelling(mounted: SparkSession, place: str) -> None:
    path, prefix = PLACES[place]
    # Without a mount Python sees DBFS below /dbfs alone, as on the platform.
    in_python = (
        [f"/dbfs{path}"] if prefix is None and not path.startswith("/Volumes") else [path, f"/dbfs{path}"]
    )
    for spelling, name in itertools.product(in_python, FOLDERS):
        file = f"{spelling}/{name}/a.json"
        with open(file) as opened:
            assert opened.read() == '{"a": 1}\n'
        assert os.listdir(f"{spelling}/{name}") == ["a.json"]
        assert Path(file).exists()
        assert glob(f"{spelling}/{name}/*.json") == [file]
        assert list(pd.read_json(file, lines=True)["a"]) == [1]
        assert arrow_json.read_json(file).to_pydict() == {"a": [1]}
