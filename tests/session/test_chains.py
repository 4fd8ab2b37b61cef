"""Every way to a session that users' code takes ends at lakeward's, with the user's settings kept."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes import environ_without, outcome


def run(script: str | Path, folder: Path, **environ: str) -> str:
    """What a Python process of its own prints."""
    theirs = environ_without("LAKEWARD_HOME", "PYSPARK", "SPARK")
    command = [sys.executable, str(script)] if isinstance(script, Path) else [sys.executable, "-c", script]
    done = outcome(command, cwd=folder, env={**theirs, **environ}, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


OURS = {
    "catalog": "main",
    "format": "delta",
    "jars": 1,
    "packages": None,
    "extensions": "io.delta.sql.DeltaSparkSessionExtension,lakeward.Extension",
}


@pytest.fixture(scope="module")
def chains(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("chains")
    out: dict[str, Any] = json.loads(run(Path(__file__).with_name("chains_story.py"), folder))
    assert not (folder / "metastore_db").exists(), "enableHiveSupport() starts no Hive"
    return out


@pytest.mark.slow
@pytest.mark.process
def test_a_builder_made_for_plain_spark_and_delta_gives_our_session(chains: dict[str, Any]) -> None:
    kept = {"count": 1, "app": "tests", "partitions": "3", "own": "kept"}
    assert chains["delta_pip"] == OURS | kept
    assert chains["hive"] == "in-memory"
    assert "main/default/chain" in chains["warehouse"], "tables are in the user's warehouse folder"
    assert chains["submit_args"].startswith("--packages"), "the user's environment is as it was"


@pytest.mark.process
def test_a_second_builder_gives_the_same_session_with_its_settings(chains: dict[str, Any]) -> None:
    assert chains["same"]
    assert chains["active"]
    assert chains["applied"] == ["5", "true"]


@pytest.mark.process
def test_settings_that_come_too_late_are_said_once_in_one_sentence(chains: dict[str, Any]) -> None:
    (heard,) = chains["heard"]
    assert heard == (
        "Using the running Spark session, in which spark.master=local[1] (it is local[2]), "
        "spark.driver.memory=9g (it is 2g) take no effect; "
        "call stop() on it first for a session with these settings."
    )


@pytest.mark.process
def test_new_and_created_sessions_are_in_the_same_lakehouse(chains: dict[str, Any]) -> None:
    assert chains["new_session"] == OURS | {"count": 1, "other": True}
    assert chains["created"] == OURS | {"count": 1, "partitions": ["7", "5"]}


@pytest.mark.process
def test_after_a_stop_the_next_builder_starts_again_with_its_own_settings(chains: dict[str, Any]) -> None:
    assert chains["stopped"]
    assert chains["second"] == OURS | {"count": 1, "master": "local[1]"}
    assert chains["with"] == 1


@pytest.mark.process
def test_a_spark_context_of_ones_own_is_the_one_under_our_session(chains: dict[str, Any]) -> None:
    assert chains["context"] == OURS | {"count": 1, "same": True, "sum": 6, "own": "1", "wrapped": "main"}
    assert chains["get_or_create"] == OURS | {"cores": len(os.sched_getaffinity(0))}


@pytest.mark.process
def test_databricks_connects_builder_gives_our_session_whatever_host_it_names(
    chains: dict[str, Any],
) -> None:
    assert chains["connect"] == OURS | {
        "count": 1,
        "partitions": "4",
        "same": True,
        "other": True,
        "one_class": True,
    }


def test_switched_off_nothing_of_pyspark_is_changed(tmp_path: Path) -> None:
    script = """
import importlib.util, pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession
before = {owner: dict(vars(owner)) for owner in (SparkSession, SparkSession.Builder, SparkContext)}
import sys
path = list(sys.meta_path)
from lakeward import patching
from lakeward.session import install_builder_hook, install_connect_hook
install_builder_hook(); install_connect_hook()
assert all(dict(vars(owner)) == entries for owner, entries in before.items())
assert sys.meta_path == path and patching.installed_patches() == []
try:
    importlib.util.find_spec("databricks.connect")
except ModuleNotFoundError:
    pass
else:
    assert importlib.util.find_spec("databricks.connect") is None
"""
    run(script, tmp_path, LAKEWARD_DISABLE="1")
