"""A historical folder next to the live files, and maintenance between updates (INV-17, INV-18)."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path

import pytest
from fixtures.generate import generate

from lakeward import jobs
from tests.wearables.company import Company
from tests.wearables.oracle import Lakehouse, lakehouse

pytestmark = [pytest.mark.usefixtures("spark"), pytest.mark.slow]

# Tables that count how often a record was delivered, or that keep every delivery.
COUNTING = ("heart_rate", "workouts", "registered_users", "gym_visits")


def distinct(tables: Lakehouse) -> Lakehouse:
    """The tables without what depends on how often a record was delivered."""
    counted = {name: Counter({row[:-1] for row in getattr(tables, name)}) for name in COUNTING}
    return replace(tables, **counted, bronze=Counter(), quarantine=Counter())


def test_history_next_to_live_files_and_maintenance_change_no_row(tmp_path: Path) -> None:
    source, live = tmp_path / "source", tmp_path / "live"
    generate(source, users=3, days=4, seed=13, longest=60)
    everything = lakehouse(source)
    days = sorted(file.name for file in (source / "daily").iterdir())
    later = [*days[:2], days[3]]
    shutil.copytree(source, live, ignore=lambda _, names: [name for name in names if name in later])
    company = Company(tmp_path / "lakehouse", retention="0 seconds")
    company.run(live)

    before = company.versions()
    run = jobs.run(company.bundle, "maintenance", settings=company.settings)
    assert {task.task_key: task.state for task in run.tasks} == dict.fromkeys(
        ("maintain", "check"), "SUCCESS"
    )
    assert company.differences(lakehouse(live)) == {}
    assert company.versions() != before, "OPTIMIZE has merged files"
    written = {each.name.split(".")[-1]: each.rows_written for each in company.run(live).datasets}
    assert [written[name] for name in ("bronze", "registrations", "gym_logs")] == [0, 0, 0]
    assert company.differences(lakehouse(live)) == {}

    # The past in a folder of its own, with a day that is here already, while the next live day arrives.
    history = company.settings.volumes / "dev" / "dev_ann_wearables" / "landing" / "daily" / "history"
    history.mkdir()
    shutil.copy(source / "daily" / days[3], live / "daily")
    delivered = shutil.copytree(live, tmp_path / "delivered")
    for name in days[:3]:
        for folder in (history, delivered / "daily"):
            shutil.copy(source / "daily" / name, folder / f"history-{name}")
    company.run(live)
    found = lakehouse(delivered)
    assert company.differences(found) == {}
    ours, wanted = distinct(found), distinct(everything)
    assert [
        each.name for each in fields(ours) if getattr(ours, each.name) != getattr(wanted, each.name)
    ] == []
