"""The rows of PATH_RULES hold for every entry point and for everything that takes a path."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lakeward import dbutils as dbutils_package
from lakeward.session import PATH_RULES, Settings, dbfs_paths, session
from lakeward.session.path_rules import PathRule, paths_are_dbfs
from lakeward.session.paths import PathMap

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULES = pytest.mark.parametrize("rule", PATH_RULES, ids=lambda rule: rule.spelling)


def spelled(rule: PathRule, tmp_path: Path, name: str) -> str:
    """Return the path of the row, with `name` in place of the example's `x`."""
    text = rule.spelling.format(local=tmp_path, mount="/mnt/given")
    return text[: text.rindex("x")] + name


def place(kind: str, rule: PathRule, settings: Settings, path: str) -> str:
    """Return the local path that the kind of place in a row means."""
    plain = path.removeprefix("dbfs:").removeprefix("file:")
    hive = settings.warehouse / "hive_metastore" / "default"
    mounted = dict(settings.mounts)["/mnt/given"]
    return {
        "DBFS": f"{settings.dbfs}{plain.removeprefix('/dbfs')}",
        "local disk": plain,
        "hive_metastore": f"{hive}{plain.removeprefix('/dbfs').removeprefix('/user/hive/warehouse')}",
        "volume": f"{settings.volumes}{plain.removeprefix('/Volumes')}",
        "workspace files": f"{settings.workspace}{plain.removeprefix('/Workspace')}",
        "mounted folder": mounted + plain.removeprefix("/dbfs").removeprefix("/mnt/given"),
        "working folder": plain,
    }[kind]


def settings_of(tmp_path: Path) -> Settings:
    return Settings.here(tmp_path, environ={}, mounts=(("/mnt/given", str(tmp_path / "mounted")),))


@RULES
def test_path_map_follows_the_table(rule: PathRule, tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    path = spelled(rule, tmp_path, "x")

    def local(path_map: PathMap) -> str:
        return path_map.local(path).removeprefix("file:")

    assert local(PathMap.of(settings)) == place(rule.script, rule, settings, path)
    with dbfs_paths():
        platform = PathMap.of(settings)
    assert local(platform) == place(rule.platform, rule, settings, path)
    if rule.python is not None:
        assert local(platform.of_python()) == place(rule.python, rule, settings, path)
        assert local(PathMap.of(settings).of_python()) == place(rule.python, rule, settings, path)


def test_names_of_local_files_stay_the_users(tmp_path: Path) -> None:
    with dbfs_paths():
        names = PathMap.of(settings_of(tmp_path))
    assert names.user(str(tmp_path / "x")) == str(tmp_path / "x")
    assert names.user(names.local("/tmp/x")) == "/dbfs/tmp/x"
    assert names.local(f"dbfs:{tmp_path}/x") == f"{tmp_path}/x"


def test_python_looks_at_no_more_paths_under_the_rule_of_the_platform(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    plain = PathMap.of(settings).of_python()
    with dbfs_paths():
        assert PathMap.of(settings).of_python() == plain


def test_scopes_nest(tmp_path: Path) -> None:
    with dbfs_paths():
        with dbfs_paths():
            assert paths_are_dbfs()
        assert paths_are_dbfs()
    assert not paths_are_dbfs()


@pytest.fixture(scope="module")
def mounted(suite_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("mounts")
    settings = suite_settings.with_(mounts=(("/mnt/given", str(folder / "mounted")),), target="rules")
    # The volume of the table's example: in another one nothing can be written.
    (settings.volumes / "c/s/v").mkdir(parents=True)
    yield session(settings)
    session(suite_settings)


def _with_spark(spark: SparkSession, path: str) -> None:
    spark.range(1).write.format("json").save(f"{path}/written")
    assert spark.read.schema("id BIGINT").json(f"{path}/written").count() == 1
    assert spark.sql(f"SELECT * FROM json.`{path}/written`").count() == 1
    assert spark.sql(f"SELECT * FROM read_files('{path}/written', format => 'json')").count() == 1


def _with_delta(spark: SparkSession, path: str) -> None:
    spark.range(1).write.format("delta").save(f"{path}/written")
    table = "t" + uuid.uuid4().hex
    spark.sql(f"CREATE TABLE {table} USING delta LOCATION '{path}/written'")
    spark.sql(f"INSERT INTO {table} VALUES (7)")
    assert spark.read.format("delta").load(f"{path}/written").count() == 2
    assert spark.sql(f"SELECT * FROM delta.`{path}/written`").count() == 2
    spark.sql(f"DROP TABLE {table}")


def _with_streams(spark: SparkSession, path: str) -> None:
    spark.range(1).write.format("json").save(f"{path}/written")
    table = "t" + uuid.uuid4().hex
    spark.sql(f"CREATE TABLE {table} (id BIGINT)")
    stream = (
        spark.readStream.format("cloudFiles")
        .options(**{"cloudFiles.format": "json", "cloudFiles.schemaLocation": f"{path}/schema"})
        .load(f"{path}/written")
        .selectExpr("CAST(id AS BIGINT) AS id")
    )
    query = stream.writeStream.option("checkpointLocation", f"{path}/checkpoint")
    query.trigger(availableNow=True).toTable(table).awaitTermination()
    spark.sql(f"COPY INTO {table} FROM '{path}/written' FILEFORMAT = JSON")
    assert spark.table(table).count() == 2


def _with_dbutils(spark: SparkSession, path: str) -> None:
    fs = dbutils_package.dbutils().fs
    fs.put(f"{path}/written/f.txt", "hello")
    assert fs.head(f"{path}/written/f.txt") == "hello"
    assert spark.read.text(f"{path}/written/f.txt").count() == 1
    assert [each.name for each in fs.ls(f"{path}/written")] == ["f.txt"]


USERS: dict[str, Callable[[SparkSession, str], None]] = {
    "spark": _with_spark,
    "delta": _with_delta,
    "streams": _with_streams,
    "dbutils": _with_dbutils,
}
# The spellings that the two rules read differently, or that decide between the disk and DBFS.
DIFFERENT = ("/tmp/x", "dbfs:/tmp/x", "file:/tmp/x", "{local}/x")


def _cases() -> Iterator[Any]:
    for rule in PATH_RULES:
        for user in USERS:
            # dbutils.fs takes no relative path, on the platform neither.
            if rule.spelling == "x":
                continue
            slow = rule.spelling not in DIFFERENT
            yield pytest.param(rule, user, marks=pytest.mark.slow if slow else ())


@pytest.mark.parametrize(("rule", "user"), list(_cases()))
@pytest.mark.parametrize("entry", ["platform", "script"])
def test_every_user_of_a_path_follows_the_table(
    mounted: SparkSession, tmp_path: Path, entry: str, rule: PathRule, user: str
) -> None:
    from lakeward.session import current_settings

    settings = current_settings()
    assert settings is not None
    path = spelled(rule, tmp_path, f"lakeward-{uuid.uuid4().hex}")
    with dbfs_paths() if entry == "platform" else nullcontext():
        expected = Path(place(rule.platform if entry == "platform" else rule.script, rule, settings, path))
        try:
            USERS[user](mounted, path)
            assert any((expected / "written").iterdir())
            if user == "streams":
                assert (expected / "checkpoint" / "offsets").is_dir()
                assert (expected / "schema").is_dir()
        finally:
            shutil.rmtree(expected, ignore_errors=True)


# Statements that make the table `{name}` in the folder `{path}`, one after the other.
LOCATIONS: dict[str, tuple[str, ...]] = {
    "delta": ("CREATE TABLE {name} USING delta LOCATION '{path}' AS SELECT 1 AS id",),
    "replaced": ("CREATE OR REPLACE TABLE {name} USING delta LOCATION '{path}' AS SELECT 1 AS id",),
    "parquet": ("CREATE TABLE {name} USING parquet LOCATION '{path}' AS SELECT 1 AS id",),
    "schema": ("CREATE SCHEMA main.{folder} LOCATION '{path}'", "CREATE TABLE {name} AS SELECT 1 AS id"),
}


@pytest.mark.parametrize("rule_of_creation", ["platform", "script"])
@pytest.mark.parametrize("kind", LOCATIONS)
def test_a_table_with_a_location_is_found_under_both_rules(
    mounted: SparkSession, tmp_path: Path, kind: str, rule_of_creation: str
) -> None:
    rules = [rule for rule in PATH_RULES if rule.python is None or rule.platform == "local disk"]
    assert len(rules) > 5
    for rule in rules:
        folder = f"lakeward_{uuid.uuid4().hex}"
        path = spelled(rule, tmp_path, folder)
        name = f"main.{folder}.t" if kind == "schema" else f"main.default.{folder}"
        try:
            with dbfs_paths() if rule_of_creation == "platform" else nullcontext():
                for statement in LOCATIONS[kind]:
                    mounted.sql(statement.format(name=name, path=path, folder=folder))
            for scope in (dbfs_paths(), nullcontext()):
                with scope:
                    assert mounted.table(name).collect() == [(1,)], rule
                    mounted.catalog.refreshTable(name)
        finally:
            mounted.sql(f"DROP TABLE IF EXISTS {name}")
            if kind == "schema":
                mounted.sql(f"DROP SCHEMA IF EXISTS main.{folder} CASCADE")


@pytest.mark.parametrize("path", ["dbfs:/mnt/given", "/dbfs/mnt/given"])
def test_a_mounted_folder_stays_when_it_is_overwritten(mounted: SparkSession, path: str) -> None:
    from lakeward.session import current_settings

    settings = current_settings()
    assert settings is not None
    folder = Path(dict(settings.mounts)["/mnt/given"])
    folder.mkdir(exist_ok=True)
    (folder / "old.txt").write_text("old")
    before = folder.stat().st_ino
    mounted.range(1).write.mode("overwrite").json(path)
    assert not (folder / "old.txt").exists() and list(folder.glob("part-*"))
    assert folder.stat().st_ino == before


# What the code of a user does, for every entry point that runs some.
CODE = """
import os, uuid
from pathlib import Path
name = uuid.uuid4().hex
dbutils.fs.put(f"/tmp/{name}/f.txt", "hello")
assert Path(f"/dbfs/tmp/{name}/f.txt").read_text() == "hello"
assert not os.path.exists(f"/tmp/{name}")
assert spark.read.text(f"/tmp/{name}").count() == 1
assert spark.read.text(f"dbfs:/tmp/{name}/f.txt").count() == 1
assert spark.newSession().sql(f"SELECT * FROM text.`/tmp/{name}`").count() == 1
spark.range(1).write.parquet(f"/tmp/{name}/out")
assert os.path.isdir(f"/dbfs/tmp/{name}/out")
os.makedirs(f"/tmp/{name}")
try:
    with open(f"/tmp/{name}/g.txt", "w") as out:
        out.write("local")
    assert spark.read.text(f"file:/tmp/{name}/g.txt").first()[0] == "local"
    dbutils.fs.cp(f"file:/tmp/{name}/g.txt", f"/tmp/{name}/g.txt")
finally:
    os.remove(f"/tmp/{name}/g.txt"); os.rmdir(f"/tmp/{name}")
assert Path(f"/dbfs/tmp/{name}/g.txt").read_text() == "local"
spark.range(3).write.csv(r"{folder}/data")
assert spark.read.csv(r"{folder}/data").count() == 3
"""


def test_notebooks_follow_the_platform(mounted: SparkSession, tmp_path: Path) -> None:
    from lakeward import notebooks

    file = tmp_path / "n.py"
    file.write_text("# Databricks notebook source\n" + CODE.replace("{folder}", str(tmp_path)))
    done = notebooks.run(file, spark=mounted, environment=dbutils_package.Environment())
    assert done.error is None, done.error
    assert not paths_are_dbfs()


def test_pipelines_follow_the_platform(mounted: SparkSession, tmp_path: Path) -> None:
    from lakeward import pipelines

    head = "from pyspark import pipelines as dp\nfrom databricks.sdk.runtime import spark, dbutils\n"
    flow = "@dp.materialized_view\ndef m():\n    return spark.read.text(f'/tmp/{name}/f.txt')\n"
    file = tmp_path / "p.py"
    file.write_text(head + CODE.replace("{folder}", str(tmp_path)) + flow)
    options = pipelines.UpdateOptions(schema="rules", storage=tmp_path / "storage")
    update = pipelines.run([file], options, session=mounted)
    assert update.state == "COMPLETED", update


@pytest.mark.parametrize("isolated", [False, pytest.param(True, marks=pytest.mark.process)])
def test_jobs_follow_the_platform(suite_settings: Settings, tmp_path: Path, isolated: bool) -> None:
    from lakeward import jobs
    from lakeward.bundle import load

    (tmp_path / "task.py").write_text(CODE.replace("{folder}", str(tmp_path)))
    (tmp_path / "databricks.yml").write_text(
        "bundle: {name: b}\n"
        "resources: {jobs: {j: {tasks: [{task_key: t, spark_python_task: {python_file: task.py}}]}}}\n"
    )
    bundle = load(tmp_path, user="ann", environ={})
    settings = suite_settings.with_(root=tmp_path)
    session(settings)
    options = jobs.RunOptions(isolated=isolated, provision=lambda *_: None)
    run = jobs.run(bundle, "j", settings=settings, options=options)
    assert run.state == "COMPLETED", run
    session(suite_settings)
