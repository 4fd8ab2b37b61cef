"""The bundle of this repository, run in a lakehouse of its own."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from lakeward import jobs
from lakeward.bundle import load
from lakeward.jobs import JobRun
from lakeward.session import Settings, session
from tests.wearables.frames import rows
from tests.wearables.oracle import Lakehouse
from wearables.jobs.maintain import tables_of

__all__ = ["ROOT", "SCHEMAS", "Company", "copy_bundle"]

ROOT = Path(__file__).resolve().parents[2]
BUNDLE = ("databricks.yml", "pyproject.toml", "resources", "src/wearables", "packaging/wearables")


def copy_bundle(folder: Path) -> None:
    """Copy the files of the bundle alone to a folder: a deployment builds its wheel there."""
    for name in BUNDLE:
        source, place = ROOT / name, folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, place) if source.is_dir() else shutil.copy(source, place)


def _all_succeeded(run: JobRun, *keys: str) -> None:
    found = {task.task_key: (task.state, task.error) for task in run.tasks}
    assert found == dict.fromkeys(keys, ("SUCCESS", None)), found


SCHEMAS = {"dev": "dev.dev_ann_wearables", "prod": "prod.wearables"}
"""The schema of each target when `ann` deploys."""


class Company:
    """One lakehouse of a target of the bundle, in a folder of its own."""

    def __init__(self, folder: Path, target: str = "dev", **variables: str) -> None:
        self.bundle = load(ROOT, target, variables, user="ann", environ={})
        self.settings = Settings.here(folder, environ={}, target=target)
        self.schema = SCHEMAS[target]

    def run(self, source: Path, **parameters: str) -> JobRun:
        """One run of the job, which must succeed."""
        given = {"source": str(source), **parameters}
        run = jobs.run(
            self.bundle, "daily", settings=self.settings, options=jobs.RunOptions(parameters=given)
        )
        _all_succeeded(run, "land", "keys", "refresh", "protect", "check", "publish")
        return run

    def backfill(self) -> JobRun:
        """One run of the job that computes all tables again, which must succeed."""
        options = jobs.RunOptions(parameters={"confirmed": "yes"})
        run = jobs.run(self.bundle, "backfill", settings=self.settings, options=options)
        _all_succeeded(run, "is_confirmed", "refresh", "check")
        return run

    def differences(self, expected: Lakehouse, only: Collection[str] = ()) -> Mapping[str, Any]:
        """The datasets (of `only`) that differ from the oracle's, with rows that one side has."""
        differing = {}
        for field in fields(expected):
            if only and field.name not in only:
                continue
            wanted, got = getattr(expected, field.name), self.rows(field.name)
            if wanted != got:
                differing[field.name] = {"missing": list(wanted - got)[:3], "extra": list(got - wanted)[:3]}
        return differing

    def rows(self, name: str) -> Counter[tuple[Any, ...]]:
        spark = session(self.settings)
        table = spark.table(f"{self.schema}.{name}")
        keys = spark.table(f"{self.schema}.user_keys") if "pseudonym" in table.columns else None
        return rows(table, name, keys)

    def versions(self) -> dict[str, int]:
        """The newest version of each table."""
        spark = session(self.settings)
        names = tables_of(spark, self.schema)
        return {
            name: spark.sql(f"DESCRIBE HISTORY {self.schema}.{name} LIMIT 1").collect()[0]["version"]
            for name in names
        }
