"""A JVM that stays: the next command finds it as new, and gets what a JVM of its own would give."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lakeward.session.cache import cache_dir
from lakeward.session.daemon.registry import Record, is_running, read_record
from lakeward.session.jvm.jvm_launcher import handshake
from tests.processes import environ_without, outcome

STORY = Path(__file__).with_name("daemon_story.py")
HIDDEN = ("CI", "LAKEWARD_", "PYTEST_")

# With `spark`, since the first JVM of a machine compiles our classes and is never a daemon.
pytestmark = [pytest.mark.process, pytest.mark.usefixtures("spark")]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache with everything of the real one but its daemons; ends those that were started."""
    folder = tmp_path_factory.mktemp("cache")
    for name in ("jars", "java"):
        (cache_dir() / name).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(cache_dir() / name)
    yield folder
    lakeward("stop", "--force", cache=folder)


def environment(cache: Path, **more: str) -> dict[str, str]:
    kept = environ_without(*HIDDEN)
    return {**kept, "LAKEWARD_CACHE": str(cache), "LAKEWARD_DAEMON_IDLE": "100", **more}


def lakeward(*arguments: str, cache: Path, folder: Path | None = None, **env: str) -> Any:
    command = [sys.executable, "-m", "lakeward", *arguments]
    return outcome(command, cwd=folder, env=environment(cache, **env), timeout=120)


@pytest.fixture
def scene(cache: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Runs a scene of the story in a folder of that name; gives what it saw, and what it printed besides."""

    def run(name: str, where: str = "here", **env: str) -> dict[str, Any]:
        (tmp_path / where).mkdir(exist_ok=True)
        done = outcome(
            [sys.executable, str(STORY), name],
            cwd=tmp_path / where,
            env=environment(cache, **env),
            timeout=120,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        printed = done.stdout.splitlines()
        # What the JVM prints comes by another way, and may come last.
        seen = printed.pop(max(i for i, line in enumerate(printed) if line.startswith('{"')))
        return {**json.loads(seen), "printed": printed}

    return run


def holding(cache: Path, folder: Path, how: str = "hold") -> tuple[subprocess.Popen[str], int]:
    """A command at work in the scene `how`, and the JVM that it has."""
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(STORY), how],
        cwd=folder,
        env=environment(cache),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    word, jvm = process.stdout.readline().split()
    assert word == "holding"
    return process, int(jvm)


def the_record(cache: Path) -> tuple[Path, Record]:
    (file,) = (cache / f"daemon-{os.getuid()}").glob("*.json")
    record = read_record(file)
    assert record is not None
    return file, record


@pytest.mark.slow
def test_the_next_command_sees_nothing_of_the_one_before_and_the_same_as_without(
    scene: Callable[..., dict[str, Any]],
) -> None:
    left = scene("leave", "first", STORY="first", ONLY_FIRST="1")
    warm = scene("look", "second", STORY="second")
    assert left["helper"] == "first"
    assert warm["jvm"] == left["jvm"]
    cold = scene("look", "cold", STORY="second", LAKEWARD_COLD="1")
    assert cold["jvm"] != left["jvm"]
    assert warm.pop("udf") == "second second second"
    assert cold.pop("udf") == "second cold second"
    assert {**warm, "jvm": 0} == {**cold, "jvm": 0}
    assert warm["pandas"] == 6
    assert warm["batches"] == [2]
    assert warm["gone"] == "None"
    assert "Batch: 0" in warm["printed"], "what the JVM prints itself arrives"
    after = scene("quick")["jvm"]
    assert after not in (left["jvm"], cold["jvm"]), "an added file cannot be taken away again"
    assert scene("stopped")["jvm"] is None
    assert scene("quick") == {"jvm": after, "one": 1, "printed": []}


@pytest.mark.slow
def test_what_java_forgets_of_one_command_is_not_taken_from_the_next(
    scene: Callable[..., dict[str, Any]],
) -> None:
    first = scene("quick")
    assert (second := scene("forgotten"))["jvm"] == first["jvm"]
    assert second["answer"] == 1


@pytest.mark.slow
def test_a_second_command_at_the_same_time_has_a_jvm_of_its_own(
    scene: Callable[..., dict[str, Any]], cache: Path, tmp_path: Path
) -> None:
    process, jvm = holding(cache, tmp_path / "holder")
    other = scene("quick")
    assert other["one"] == 1
    assert other["jvm"] != jvm
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in said
    assert scene("quick")["jvm"] == jvm, "Ctrl-C ends the command's jobs, not the JVM"


def test_a_command_that_was_killed_leaves_a_jvm_as_good_as_new(
    scene: Callable[..., dict[str, Any]], cache: Path, tmp_path: Path
) -> None:
    process, jvm = holding(cache, tmp_path / "holder")
    process.kill()
    process.communicate(timeout=30)
    assert scene("quick")["jvm"] == jvm


def test_a_context_that_was_not_recorded_before_its_command_was_killed_is_stopped(
    scene: Callable[..., dict[str, Any]], cache: Path, tmp_path: Path
) -> None:
    process, jvm = holding(cache, tmp_path / "holder", "replace")
    process.kill()
    process.communicate(timeout=30)
    # Each later command failed: only one SparkContext should be running in this JVM.
    assert scene("quick") == {"jvm": jvm, "one": 1, "printed": []}


@pytest.mark.slow
def test_a_query_whose_command_was_killed_while_it_was_planned_begins_no_job(
    scene: Callable[..., dict[str, Any]], cache: Path, tmp_path: Path
) -> None:
    process, _ = holding(cache, tmp_path / "holder", "plan")
    process.kill()
    process.communicate(timeout=30)
    # The next command once waited for both cores, as long as that job took.
    assert scene("jobs")["jobs"] == []


def test_a_jvm_that_is_killed_under_a_command_is_reported_and_replaced(
    scene: Callable[..., dict[str, Any]], cache: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    slow = "SELECT sum(a.id % 7) FROM range(100000000) a JOIN range(100) b ON a.id % 5 = b.id % 3"
    command = [sys.executable, "-m", "lakeward", "sql", "-e", slow]
    process = subprocess.Popen(
        command, cwd=work, env=environment(cache), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not list(cache.glob("daemon-*/*.json")) and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(5)  # until the query runs
    file, record = the_record(cache)
    os.kill(record.pid, signal.SIGKILL)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 1, said
    assert said.startswith(f"error: [JVM_LOST] the daemon {record.pid} ended in the middle of the work")
    assert "Run the same command again" in said
    assert "Traceback" not in said
    assert not is_running(file, record.pid)
    after = scene("quick")
    assert after["one"] == 1
    assert after["jvm"] == the_record(cache)[1].pid != record.pid


def test_its_secret_is_readable_by_its_user_alone(scene: Callable[..., dict[str, Any]], cache: Path) -> None:
    scene("quick")
    file, record = the_record(cache)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    modes = {stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir() if path.suffix != ".lock"}
    assert modes == {0o600}
    assert record.secret not in Path(f"/proc/{record.pid}/cmdline").read_text()


def test_stop_says_what_it_stopped_and_nothing_is_left(
    scene: Callable[..., dict[str, Any]], cache: Path
) -> None:
    scene("quick")
    file, record = the_record(cache)
    done = lakeward("stop", cache=cache)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"stopped the JVM {record.pid}, which had been there for ")
    assert not is_running(file, record.pid)
    assert [path.suffix for path in file.parent.iterdir()] == [".lock"]
    assert lakeward("stop", cache=cache).stdout == "no project of this user has a JVM\n"


def test_stop_keeps_the_jvm_of_a_command_of_another_folder(cache: Path, tmp_path: Path) -> None:
    process, jvm = holding(cache, tmp_path / "holder")
    kept = lakeward("stop", cache=cache)
    where = f"process {process.pid} in {tmp_path / 'holder'} uses it"
    assert kept.stdout == f"kept the JVM {jvm}: {where}; --force ends it\n"
    file, record = the_record(cache)
    assert is_running(file, record.pid)
    assert lakeward("stop", "--force", cache=cache).stdout.startswith(f"stopped the JVM {jvm}, ")
    assert not is_running(file, record.pid)
    process.communicate(timeout=30)


@pytest.mark.slow
def test_no_command_came_for_a_while(scene: Callable[..., dict[str, Any]], cache: Path) -> None:
    lakeward("stop", cache=cache)  # a JVM of an earlier test waits longer
    scene("quick", LAKEWARD_DAEMON_IDLE="0.1")
    (file,) = (cache / f"daemon-{os.getuid()}").glob("*.err")
    deadline = time.monotonic() + 60
    while file.with_suffix(".json").exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not file.with_suffix(".json").exists()


def test_a_jvm_whose_start_was_interrupted_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start(env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(["sleep", "100"], stdin=subprocess.PIPE))
        return started[0]

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lakeward.session.jvm.jvm_launcher.time.sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        handshake(start, tmp_path)
    assert started[0].poll() == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [2.2, 2.8, 3.4])
def test_ctrl_c_while_a_jvm_starts_leaves_none_without_a_record(
    seconds: float, cache: Path, tmp_path: Path
) -> None:
    lakeward("stop", "--force", cache=cache)
    command = [sys.executable, "-m", "lakeward", "sql", "-e", "select 1"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment(cache), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    folder = cache / f"daemon-{os.getuid()}"
    running = outcome(["pgrep", "-f", f"lakeward.daemon={folder}"]).stdout.split()
    recorded = [str(record.pid) for record in map(read_record, folder.glob("*.json")) if record]
    assert running == recorded
