"""Several pytest processes at once, as pytest-xdist starts them: each with its own share of the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.processes import environ_without, outcome

from lakeward.testing.plugin import hide_ours
from lakeward.testing.workers import (
    Budget,
    Worker,
    acquire_jvm_slot,
    current_worker,
    machine_memory,
    worker_budget,
)

pytestmark = pytest.mark.process

SUITE = """\
import os

def test_home():
    from lakeward.testing import plugin
    print("home:", os.environ["LAKEWARD_HOME"])
    print("conf:", plugin.settings_here().conf)
"""


def test_a_worker_is_known_by_the_variables_of_xdist() -> None:
    assert current_worker({"PYTEST_XDIST_WORKER": "gw3", "PYTEST_XDIST_WORKER_COUNT": "4"}) == Worker(
        "gw3", 4
    )
    assert current_worker({}) is None


def test_heaps_shrink_before_jvms_get_fewer() -> None:
    assert worker_budget(2, memory=64_000, cores=8) == Budget(jvms=2, heap=2048, cores=4)
    assert worker_budget(2, memory=5_000, cores=8) == Budget(jvms=2, heap=1232, cores=4)
    assert worker_budget(4, memory=5_000, cores=8) == Budget(jvms=2, heap=1232, cores=4)
    assert worker_budget(4, memory=1_000, cores=1) == Budget(jvms=1, heap=768, cores=1)


def test_the_machine_has_memory_and_a_container_no_more_than_that() -> None:
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    assert 0 < machine_memory() <= physical


def test_a_turn_is_waited_for_until_a_process_with_one_has_ended(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from lakeward.testing.workers import acquire_jvm_slot; "
        "take = acquire_jvm_slot(pathlib.Path(sys.argv[1]), 1); print('has it', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout
    assert other.stdin
    assert other.stdout.readline() == b"has it\n"
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            other.kill()
            other.wait()

    with other.stdin, other.stdout, acquire_jvm_slot(tmp_path, 1, sleep=sleep):
        assert len(waited) == 3


def run(folder: Path, name: str, **env: str) -> dict[str, str]:
    kept = environ_without("LAKEWARD_", "PYTEST", "COV")
    ran = outcome(
        [sys.executable, "-m", "pytest", "-s", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        env={**kept, "PYTEST_XDIST_WORKER": name, "PYTEST_XDIST_WORKER_COUNT": "2", **env},
        timeout=60,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    said = [line.partition(": ") for line in ran.stdout.splitlines()]
    return {key: value for key, _, value in said}


def test_workers_have_state_folders_of_their_own_and_a_heap_that_fits(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    home = tmp_path / "of-the-run"
    shared = {"LAKEWARD_HOME": str(home), "LAKEWARD_TESTS_HOME": str(home)}
    one, two = (run(tmp_path, name, **shared) for name in ("gw0", "gw1"))
    assert one["home"] == str(home / "gw0")
    assert two["home"] == str(home / "gw1")
    assert "'spark.driver.memory'" in one["conf"]


def test_a_home_that_the_user_has_chosen_is_kept(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    assert run(tmp_path, "gw0", LAKEWARD_HOME=str(tmp_path / "mine"))["home"] == str(tmp_path / "mine")


def raised(name: str, file: str) -> pytest.ExceptionInfo[BaseException]:
    module = {"__name__": name}
    exec(compile("def fail():\n    raise ValueError\n", file, "exec"), module)  # a module of another file
    with pytest.raises(ValueError) as found:  # noqa: PT011  # its text does not matter
        module["fail"]()  # type: ignore[operator]
    return found


@pytest.mark.parametrize(
    ("name", "file", "shown"),
    [
        ("pyspark.sql.session", "/venv/site-packages/pyspark/sql/session.py", False),
        ("lakeward.testing.frames", "/elsewhere/lakeward/testing/frames.py", False),
        ("theirs", "/project/theirs.py", True),
        ("lakeward.own", "/project/lakeward/own.py", True),
        ("pyspark.sql", "/project/.venv/lib/python3/site-packages/pyspark/sql/x.py", False),
    ],
)
def test_frames_of_ours_are_left_out_of_a_failure(name: str, file: str, shown: bool) -> None:
    found = raised(name, file)
    hide_ours(found, Path("/project"))
    visible = [str(entry.path) for entry in found.traceback.filter(found)]
    assert (file in visible) is shown
    assert __file__ in visible


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        (("/project/a.py", "/elsewhere/lakeward/b.py", "/lib/python3/contextlib.py"), [True, False, False]),
        (("/project/a.py", "/lib/python3/contextlib.py", "/elsewhere/lakeward/b.py"), [True, True, False]),
        (("/elsewhere/lakeward/b.py", "/lib/python3/runpy.py", "/project/a.py"), [False, False, True]),
        (("/project/a.py", "/lib/site-packages/shop/c.py"), [True, True]),
    ],
)
def test_frames_that_ours_call_are_left_out_too(files: tuple[str, ...], shown: list[bool]) -> None:
    def fail() -> None:
        raise ValueError

    call = fail
    for file in reversed(files):
        name = "lakeward.b" if "lakeward" in file else Path(file).stem
        module = {"__name__": name, "call": call}
        exec(compile("def outer():\n    call()\n", file, "exec"), module)
        call = module["outer"]  # type: ignore[assignment]
    with pytest.raises(ValueError) as found:  # noqa: PT011  # its text does not matter
        call()
    hide_ours(found, Path("/project"))
    visible = [str(entry.path) for entry in found.traceback.filter(found)]
    assert [file in visible for file in files] == shown
