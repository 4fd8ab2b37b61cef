"""kill -9 at random moments, then a run: the tables of an undisturbed lakehouse (INV-1 and INV-22)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fixtures.generate import generate

from tests.wearables.company import ROOT, Company
from tests.wearables.oracle import lakehouse

KILLS = 10


@pytest.mark.slow
@pytest.mark.process
def test_ten_kills_at_random_moments_and_then_a_run_give_the_tables_of_the_oracle(tmp_path: Path) -> None:
    source = tmp_path / "source"
    generate(source, users=3, days=KILLS + 2, seed=5, longest=60)
    company = Company(tmp_path)
    environment = {**os.environ, "USER": "ann", "LAKEWARD_HOME": str(company.settings.home)}
    one_day = [sys.executable, "-m", "lakeward", "run", "daily", "-t", "dev", "--param", f"source={source}"]
    one_day += ["--param", "days=1"]

    began = time.monotonic()
    subprocess.run(one_day, cwd=ROOT, env=environment, check=True, capture_output=True)
    undisturbed = time.monotonic() - began

    chance = random.Random(9)
    moments = [undisturbed * (0.3 + 0.7 * (kill + chance.random()) / KILLS) for kill in range(KILLS)]
    chance.shuffle(moments)
    killed = 0
    for moment in moments:
        run = subprocess.Popen(
            one_day,
            cwd=ROOT,
            env=environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            run.wait(timeout=moment)
        except subprocess.TimeoutExpired:
            # The whole group: Spark's JVM dies with it.
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            killed += 1
    assert killed >= KILLS // 2

    company.run(source)
    assert company.differences(lakehouse(source)) == {}
