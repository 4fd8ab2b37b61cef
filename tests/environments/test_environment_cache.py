"""Environments appear whole or not at all, once, and go when no process uses them."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lakeward.environments.environment_cache import EnvironmentCache
from lakeward.errors import SetupError

DAY = 24 * 3600.0


def nothing() -> None:
    pass


def built(folder: Path) -> None:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").touch()


def folders(home: Path) -> list[str]:
    return sorted(each.name for each in home.iterdir() if each.is_dir())


def test_an_environment_is_built_once_and_then_found(tmp_path: Path) -> None:
    cache, calls = EnvironmentCache(tmp_path / "home"), []
    for _ in range(3):
        place = cache.make(
            "k", lambda folder: (calls.append(folder), built(folder))[1], rebuild=False, waiting=nothing
        )
        assert cache.find("k") == place
    assert len(calls) == 1


def test_two_that_start_together_build_once(tmp_path: Path) -> None:
    cache, calls, waited = EnvironmentCache(tmp_path / "home"), [], []

    def slow(folder: Path) -> None:
        calls.append(folder)
        time.sleep(0.2)
        built(folder)

    with ThreadPoolExecutor(3) as pool:
        tasks = [
            pool.submit(cache.make, "k", slow, rebuild=True, waiting=lambda: waited.append(1))
            for _ in range(3)
        ]
        assert len({task.result() for task in tasks}) == 1
    assert (len(calls), len(waited)) == (1, 2)


def test_a_build_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    cache = EnvironmentCache(tmp_path / "home")
    first = cache.make("k", built, rebuild=False, waiting=nothing)

    def fails(folder: Path) -> None:
        raise SetupError("X", "it rains")

    with pytest.raises(SetupError):
        cache.make("k", fails, rebuild=True, waiting=nothing)
    assert cache.find("k") == first


def test_a_killed_build_is_never_taken_for_whole_and_is_cleared_away(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path\n"
        "from lakeward.environments.environment_cache import EnvironmentCache\n"
        "def build(folder):\n"
        "    (folder / 'bin').mkdir(parents=True); (folder / 'bin' / 'python').touch()\n"
        "    print('half', flush=True); time.sleep(60)\n"
        "EnvironmentCache(Path(sys.argv[1])).make('k', build, rebuild=False, waiting=print)"
    )
    home = tmp_path / "home"
    process = subprocess.Popen([sys.executable, "-c", code, str(home)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    cache = EnvironmentCache(home)
    (half,) = folders(home)
    assert cache.find("k") is None
    whole = cache.make("k", built, rebuild=False, waiting=nothing)
    assert folders(home) == [whole.name]
    assert whole.name != half


def test_an_environment_in_use_outlives_its_successor_and_then_goes(tmp_path: Path) -> None:
    clock = iter(range(1, 100)).__next__
    cache = EnvironmentCache(tmp_path / "home", now=clock)
    first = cache.make("k", built, rebuild=False, waiting=nothing)
    used = cache.use("k", first)
    second = cache.make("k", built, rebuild=True, waiting=nothing)
    assert folders(cache.home) == sorted([first.name, second.name])
    fcntl.flock(used, fcntl.LOCK_UN)
    os.close(used)
    third = cache.make("k", built, rebuild=True, waiting=nothing)
    assert folders(cache.home) == [third.name]


def test_a_process_holds_an_environment_once(tmp_path: Path) -> None:
    cache = EnvironmentCache(tmp_path / "home")
    place = cache.make("k", built, rebuild=False, waiting=nothing)
    assert len({cache.use("k", place) for _ in range(3)}) == 1


def test_one_that_was_not_used_for_a_month_goes_and_others_stay(tmp_path: Path) -> None:
    times = [time.time() - 31 * DAY]
    cache = EnvironmentCache(tmp_path / "home", now=lambda: times[0])
    for key in ("old", "used"):
        os.close(cache.use(key, cache.make(key, built, rebuild=False, waiting=nothing)))
    times[0] = time.time()
    cache.use("used", cache.find("used") or tmp_path)
    cache.make("new", built, rebuild=False, waiting=nothing)
    assert cache.find("old") is None
    assert [name.partition("-")[0] for name in folders(cache.home)] == ["new", "used"]


def test_a_cache_that_cannot_be_written_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    with pytest.raises(SetupError, match=r"CACHE_NOT_WRITABLE.*LAKEWARD_CACHE"):
        EnvironmentCache(tmp_path / "a file" / "home").make("k", built, rebuild=False, waiting=nothing)
