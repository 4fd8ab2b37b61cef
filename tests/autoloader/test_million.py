"""A history of a million files: duration and memory of a restart, and the cost of a batch."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from lakeward.autoloader.state.frames import MAGIC, FileEntry, encode_frame
from lakeward.autoloader.state.state_log import StateLog
from lakeward.autoloader.streams.file_registry import FileRegistry

FILES, BATCH = 1_000_000, 1_000

LOADING = """
import json, resource, sys, time
from pathlib import Path
from lakeward.autoloader.state.state_log import StateLog
from lakeward.autoloader.streams.file_registry import FileRegistry
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
registry = FileRegistry(StateLog(Path(sys.argv[1])))
seconds = time.perf_counter() - start
megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
print(json.dumps([registry.last, seconds, megabytes]))
"""


def entries(first: int, count: int) -> list[FileEntry]:
    names = (f"dbfs:/Volumes/main/default/landing/day={n % 28:02}/events-{n:08}.json" for n in range(count))
    return [FileEntry(f"{name}-{first}", 1234, 1_760_000_000_000_000 + first) for name in names]


@pytest.mark.slow
def test_a_restart_is_quick_and_small_and_a_batch_costs_what_it_did_at_first(tmp_path: Path) -> None:
    log = StateLog(tmp_path)
    with log.path.open("wb") as stream:
        stream.write(MAGIC)
        for first in range(1, FILES, BATCH):
            stream.write(encode_frame(first, entries(first, BATCH), assigned_at=1, committed=first - 1))
    command = [sys.executable, "-c", LOADING, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    last, seconds, megabytes = json.loads(done.stdout)
    print(f"{last} files: {seconds:.2f} s, {megabytes:.0f} MB")
    assert last == FILES
    assert seconds < 5
    assert megabytes < 500
    long, short = FileRegistry(log), FileRegistry(StateLog(tmp_path / "short"))
    assert cost(long) < 3 * cost(short) + 0.05


def cost(registry: FileRegistry) -> float:
    """Return the CPU seconds of the fastest of five batches."""
    best = float("inf")
    for number in range(5):
        new = entries(FILES * 2 + number, BATCH)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        start = registry.last
        registry.drop_after(start)
        registry.between(start, registry.add(new))
        best = min(best, resource.getrusage(resource.RUSAGE_SELF).ru_utime - before)
    return best
