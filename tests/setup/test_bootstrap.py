"""Set-up ends with a whole environment or with one sentence and exit code 2; a second one costs nothing."""

from __future__ import annotations

import ast
import json
import os
import shlex
import subprocess
import sys
import textwrap
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

import environment
import failures
from tests.setup.conftest import ROOT, Project, copy_project

pytestmark = pytest.mark.process

# Runs bootstrap.py inside a Python that was changed first, and reports on stdout what it started.
INSIDE = """
import os, runpy, sys
{change}
def note(event, arguments):
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.system"):
        print(event, arguments[0])
sys.addaudithook(note)
sys.argv = ["scripts/bootstrap.py", {level!r}]
runpy.run_path("scripts/bootstrap.py", run_name="__main__")
"""


def inside(
    project: Project, change: str = "", level: str = "runtime", **environ: str
) -> subprocess.CompletedProcess[str]:
    code = INSIDE.format(change=textwrap.dedent(change), level=level)
    return project.call([sys.executable, "-c", code], **environ)


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The reason that a failed set-up gave: one line, after the lines of progress, and no traceback."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.strip().splitlines()[-1]


def made(project: Project, level: str = "runtime", *, ours: bool = True) -> None:
    """State that an environment is there, as a set-up does at its end."""
    (project.venv / "bin").mkdir(parents=True)
    (project.venv / "bin" / "python").symlink_to(sys.executable)
    stamp = {
        "state": "made",
        "ours": ours,
        "folder": str(project.venv),
        "python": environment.python_version(),
        "project": environment.digest(project.root / "pyproject.toml"),
        "locks": {level: environment.digest(project.root / "requirements" / f"{level}.lock")},
    }
    (project.venv / environment.STAMP).write_text(json.dumps(stamp))


def stamp(project: Project) -> dict[str, object]:
    return dict(json.loads((project.venv / environment.STAMP).read_text()))


# --- which Python


def test_bootstrap_is_written_so_that_an_old_python_can_read_it() -> None:
    ast.parse((ROOT / "scripts" / "bootstrap.py").read_text(), feature_version=(3, 6))


def test_a_python_that_is_too_old_says_which_one_is_needed(project: Project, tmp_path: Path) -> None:
    done = inside(project, "sys.version_info = (3, 6, 15, 'final', 0)", PATH=str(tmp_path))
    assert sentence(done) == (
        "lakeward needs Python >= 3.10 with the module venv, but python3 is version 3.6. "
        "Install Python 3.10 or newer."
    )
    assert len(done.stderr.splitlines()) == 1
    assert not project.venv.exists()


def test_a_newer_python_on_path_is_used_instead(project: Project, tmp_path: Path) -> None:
    newer = tmp_path / "python3.12"
    newer.write_text('#!/bin/sh\ntest "$2" = -c || echo "taken: $*"\n')
    newer.chmod(0o755)
    done = inside(project, "sys.version_info = (3, 6, 15, 'final', 0)", "dev", PATH=str(tmp_path))
    assert done.returncode == 0
    assert f"taken: -S {project.root}/scripts/bootstrap.py dev" in done.stdout


def test_one_on_path_that_does_not_start_is_passed_over(project: Project, tmp_path: Path) -> None:
    for name, code in (("python3.13", 127), ("python3.12", 3)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n")
        (tmp_path / name).chmod(0o755)
    done = inside(project, "sys.version_info = (3, 9, 1, 'final', 0)", PATH=str(tmp_path))
    assert "python3 is version 3.9" in sentence(done)


def test_a_python_without_venv_names_the_package_that_brings_it(project: Project, tmp_path: Path) -> None:
    done = inside(project, "sys.modules['ensurepip'] = None", PATH=str(tmp_path))
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert sentence(done) == (
        "lakeward needs Python >= 3.10 with the module venv, "
        f"but its Python {version} lacks the module venv. "
        f"Install it: on Debian and Ubuntu with `apt install python{version}-venv`."
    )


def test_make_without_any_python_reports_it(project: Project, tmp_path: Path) -> None:
    for name in ("make", "sh"):
        (tmp_path / name).symlink_to(Path("/usr/bin") / name)
    done = project.call(["make", "run"], PATH=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == (
        "lakeward needs Python >= 3.10 and there is no python3 on PATH. Install Python 3.10 or newer."
    )


# --- what prevents a set-up


def test_no_network_the_first_time(project: Project, closed_address: str) -> None:
    done = project.bootstrap(PIP_INDEX_URL=f"{closed_address}/simple", PIP_RETRIES="1")
    assert sentence(done).startswith(
        "lakeward set-up: the package index cannot be reached (Connection refused); "
        "the first set-up needs a network: connect, or point PIP_INDEX_URL"
    )
    assert stamp(project)["state"] == "making"


def test_what_a_failed_set_up_left_is_made_again(project: Project, closed_address: str) -> None:
    made(project)
    half = {**stamp(project), "state": "making"}
    (project.venv / environment.STAMP).write_text(json.dumps(half))
    left = project.venv / "left by the first"
    left.touch()
    done = project.bootstrap(PIP_INDEX_URL=f"{closed_address}/simple", PIP_RETRIES="1")
    assert "the package index cannot be reached" in sentence(done)
    assert not left.exists()
    assert (project.venv / "bin" / "pip").exists()


@pytest.mark.slow
def test_an_environment_of_the_user_is_kept(project: Project, closed_address: str) -> None:
    venv.create(project.venv, with_pip=True, symlinks=True)
    own = project.venv / "of the user"
    own.touch()
    for _ in range(2):
        done = project.bootstrap(PIP_INDEX_URL=f"{closed_address}/simple", PIP_RETRIES="1")
        assert "the package index cannot be reached" in sentence(done)
        assert own.exists()


def test_an_environment_of_the_user_that_does_not_run_is_not_deleted(project: Project) -> None:
    project.venv.mkdir()
    (project.venv / "pyvenv.cfg").write_text("home = /nowhere\n")
    assert "Delete that folder and call again." in sentence(project.bootstrap())
    assert (project.venv / "pyvenv.cfg").exists()


def test_no_disk_space(full_disk: Callable[[int], Path], tmp_path: Path) -> None:
    # Enough for the checkout and the start of an environment, too little for pip in it.
    folder = full_disk(9 * 1024 * 1024) / "project"
    folder.mkdir()
    project = copy_project(folder, tmp_path / "home")
    said = sentence(project.bootstrap())
    assert said.startswith(f"lakeward set-up: there is no disk space left for {project.venv}")
    assert "make room" in said


def test_a_read_only_folder(project: Project, read_only: Callable[[Path], Path]) -> None:
    read_only(project.root)
    said = sentence(project.bootstrap())
    assert said.startswith(f"lakeward set-up: {project.venv} cannot be written (")
    assert "put the project into a folder that can be written" in said


def test_an_unknown_level_names_those_that_exist(project: Project) -> None:
    assert sentence(project.bootstrap("prod")) == (
        "There is no set-up level 'prod'; there are runtime, dev, bench."
    )


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "no disk space",
        ),
        ("OSError: [Errno 122] Disk quota exceeded\nERROR: Failed building wheel", "no disk space"),
        ("OSError: [Errno 30] Read-only file system: '/x'", "cannot be written"),
        (
            "Failed to establish a new connection: [Errno -2] Name or service not known",
            "(Name or service not known)",
        ),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] ...", "PIP_CERT"),
        (
            "ReadTimeoutError: Read timed out.\nNo matching distribution found for x",
            "cannot be reached (timed out)",
        ),
        (
            "THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n    six==1.17.0 from x:",
            "six==1.17.0 does not match its hash in the lock file",
        ),
        ("ERROR: No matching distribution found for six==1.17.0", "does not have six==1.17.0"),
        ("Collecting x\nERROR: something new\nhint: y", "a step failed: ERROR: something new"),
        ("", "it printed nothing"),
    ],
)
def test_what_pip_prints_becomes_a_sentence(printed: str, said: str) -> None:
    text = str(failures.explained(printed, Path("/p/.venv")))
    assert said in text
    assert "\n" not in text


# --- the second time


def test_a_second_set_up_starts_no_process_and_says_nothing(project: Project) -> None:
    made(project)
    done = inside(project)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_environment_for_development_serves_for_running_but_not_the_other_way(
    project: Project, closed_address: str
) -> None:
    made(project, "dev")
    assert inside(project, level="runtime").stderr == ""
    done = inside(project, level="bench", PIP_INDEX_URL=f"{closed_address}/simple", PIP_RETRIES="1")
    assert "requirements/bench.lock" in done.stderr


@pytest.mark.parametrize("change", ["lock", "project", "python", "folder", "interpreter", "stamp"])
def test_a_set_up_is_not_taken_for_current_after(
    change: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(project)
    monkeypatch.setattr(environment, "ROOT", project.root)
    assert environment.is_current(project.venv, "runtime")
    place = project.venv
    if change == "lock":
        (project.root / "requirements" / "runtime.lock").write_text("other==1\n")
    elif change == "project":
        (project.root / "pyproject.toml").write_text("")
    elif change == "python":
        monkeypatch.setattr(environment, "python_version", lambda: "cpython 3.99")
    elif change == "folder":
        place = project.venv.rename(project.root / "moved")
    elif change == "interpreter":
        (place / "bin" / "python").unlink()
        (place / "bin" / "python").symlink_to("/nowhere/python3")
    else:
        (place / environment.STAMP).write_text('{"state": "ma')
    assert not environment.is_current(place, "runtime")


# --- make


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ([], ["--param", "source={root}/.lakeward/demo"]),
        (["DATA=my data"], ["--param", "source={root}/my data"]),
        (["DATA=/Volumes/a/b/c"], ["--param", "source=/Volumes/a/b/c"]),
        (["DATA=s3://bucket/k", "DAYS=2"], ["--param", "source=s3://bucket/k", "--param", "days=2"]),
    ],
)
def test_make_run_hands_data_and_days_to_the_job(
    words: list[str], arguments: list[str], project: Project
) -> None:
    made(project)
    program = project.venv / "bin" / "lakeward"
    program.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    program.chmod(0o755)
    demo = project.root / ".lakeward" / "demo"
    demo.mkdir(parents=True)
    (demo / "registrations.json").touch()  # the made-up company is there already
    # In a file, because paths of the platform in arguments of programs are mapped in this process.
    script = project.root / "run.sh"
    script.write_text(shlex.join(["make", "run", *words]))
    done = project.call(["sh", str(script)], PATH=os.defpath)
    assert done.returncode == 0, done.stderr
    expected = [a.format(root=project.root) for a in arguments]
    assert done.stdout.split("|")[:-1] == ["run", "daily", "-t", "dev", *expected]
    assert done.stderr == ""
