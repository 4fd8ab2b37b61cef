"""The load history in CLONE and VACUUM (AL-8.16)."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.copy_into.conftest import Loads

pytestmark = pytest.mark.slow


def segments(loads: Loads) -> Path:
    """Return the directory of segments."""
    location = loads.spark.sql(f"DESCRIBE DETAIL {loads.table}").collect()[0]["location"]
    return Path(str(location).removeprefix("file:")) / "_delta_log" / "_copy_into_log"


@pytest.mark.rule("8.16")
def test_a_deep_clone_has_loaded_what_its_source_had_loaded(loads: Loads) -> None:
    loads.create()
    loads.put("a.json", {"id": 1})
    loads.copy()
    loads.put("b.json", {"id": 2})
    loads.copy()
    clone, old = f"{loads.table}_clone", f"{loads.table}_old"
    loads.spark.sql(f"CREATE TABLE {clone} DEEP CLONE {loads.table}")
    loads.spark.sql(f"CREATE TABLE {old} DEEP CLONE {loads.table} VERSION AS OF 1")
    loads.put("c.json", {"id": 3})
    assert loads.copy(into=clone) == [(1, 1, 0)]
    assert loads.copy(into=old) == [(2, 2, 0)]
    # Replaced by a clone, a table has its source's history, not its own: c.json is new again.
    loads.spark.sql(f"CREATE OR REPLACE TABLE {clone} DEEP CLONE {loads.table}")
    assert loads.spark.table(clone).count() == 2
    assert loads.copy(into=clone) == [(1, 1, 0)]
    assert loads.copy(into=clone) == [(0, 0, 0)]


@pytest.mark.rule("8.16")
def test_vacuum_removes_unreferenced_segments_and_keeps_the_history(loads: Loads) -> None:
    loads.create()
    for n in range(3):
        loads.put(f"{n}.json", {"id": n})
        loads.copy()
    folder = segments(loads)
    before = set(folder.glob("*.json"))
    assert len(before) == 3  # each new one takes in those before it
    loads.spark.sql(f"VACUUM {loads.table}")
    assert set(folder.glob("*.json")) == before, "what is young may be about to be named"
    long_ago = time.time() - 200 * 3600
    for path in before:
        os.utime(path, (long_ago, long_ago))
    loads.spark.sql(f"VACUUM {loads.table} DRY RUN")
    assert set(folder.glob("*.json")) == before
    loads.spark.sql(f"VACUUM {loads.table}").collect()
    assert len(list(folder.glob("*.json"))) == 1
    assert loads.copy() == [(0, 0, 0)]
