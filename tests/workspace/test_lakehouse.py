"""The reference bundle, deployed and run in its workspace on Spark, against `lakeward run`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.processes import outcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.process]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of the repository, and a folder of devices' files."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("databricks.yml", "resources", "src/wearables", "packaging/wearables", "fixtures"):
        place, source = folder / name, ROOT / name
        place.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, place)
    shutil.rmtree(folder / "packaging/wearables/dist", ignore_errors=True)
    made = [sys.executable, "-m", "fixtures.generate", "demo", "--users", "3", "--days", "2", "--seed", "1"]
    subprocess.run(made, cwd=folder, check=True, capture_output=True)
    return folder


def lakeward(folder: Path, *arguments: str, home: str) -> str:
    environ = {**os.environ, "LAKEWARD_DAEMON": "0", "LAKEWARD_HOME": str(folder / home)}
    command = [sys.executable, "-m", "lakeward", *arguments]
    done = outcome(command, cwd=folder, env=environ, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def deployed_and_run(folder: Path, target: str) -> str:
    lakeward(folder, "bundle", "deploy", "-t", target, home="deployed")
    source = f"source={folder / 'demo'}"
    return lakeward(folder, "bundle", "run", "daily", "-t", target, "--params", source, home="deployed")


@pytest.fixture(scope="module")
def dev(checkout: Path) -> str:
    return deployed_and_run(checkout, "dev")


def tables(spark: SparkSession, home: Path, target: str) -> Iterator[tuple[str, list[str]]]:
    """The tables of a target with their rows as JSON, sorted; each has its own key for pseudonyms."""
    (schema,) = (home / target / "warehouse" / target).glob("*wearables")
    for log in sorted(schema.glob("*/_delta_log")):
        table = spark.read.format("delta").load(str(log.parent)).drop("pseudonym")
        rows = table.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false')) AS row").collect()
        yield log.parent.name, sorted(row["row"] for row in rows)


def test_a_deployed_job_makes_the_tables_of_lakeward_run(
    checkout: Path, dev: str, spark: SparkSession
) -> None:
    assert dev.count("SUCCESS") == 7
    source = f"source={checkout / 'demo'}"
    lakeward(checkout, "run", "daily", "-t", "dev", "--param", source, home="own")
    ours = dict(tables(spark, checkout / "own", "dev"))
    theirs = dict(tables(spark, checkout / "deployed", "dev"))
    assert len(ours) >= 9 and all(ours[name] for name in ("bronze", "workouts", "heart_rate"))
    assert theirs == ours


def test_prod_is_separate_from_dev(checkout: Path, dev: str, spark: SparkSession) -> None:
    before = dict(tables(spark, checkout / "deployed", "dev"))
    assert deployed_and_run(checkout, "prod").count("SUCCESS") == 7
    assert dict(tables(spark, checkout / "deployed", "dev")) == before
    assert dict(tables(spark, checkout / "deployed", "prod")) == before
    names = {folder.name for folder in (checkout / "deployed").iterdir() if folder.is_dir()}
    assert names == {"dev", "prod"}
