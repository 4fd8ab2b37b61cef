"""Tasks in processes of their own, without Spark: their logs, their ends, and what stops them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.processes import is_alive, until

from lakeward import jobs
from lakeward.bundle import Bundle, load
from lakeward.dbutils import record_secret, redact, secret_stores
from lakeward.jobs import JobRun
from lakeward.jobs.concurrency import PER_TASK, max_parallel_tasks
from lakeward.jobs.run_history import PreviousRun, load_previous_run, save_run
from lakeward.jobs.task_process import TaskLog
from lakeward.session import Settings

Run = Callable[..., JobRun]


@pytest.fixture
def run_apart(run_job: Run) -> Run:
    """Run the job with its tasks in processes."""
    return lambda job, files, **options: run_job(job, files, isolated=True, **options)


def tasks(*lines: str) -> str:
    return "tasks:\n" + "".join(f"  - {{{line}}}\n" for line in lines)


def script(key: str, file: str, rest: str = "") -> str:
    return f"task_key: {key}, spark_python_task: {{python_file: {file}}}{rest and f', {rest}'}"


def log_of(settings: Settings, run: JobRun, name: str) -> bytes:
    return (settings.jobs / "j/runs" / run.run_id / "logs" / f"{name}.log").read_bytes()


def states(run: JobRun) -> dict[str, str]:
    return {task.task_key: task.state for task in run.tasks}


HANG = "import os, time\nopen(os.environ['PIDS'], 'a').write(f'{os.getpid()}\\n')\ntime.sleep(60)\n"
CHILD = "import subprocess, sys\n" + HANG.replace(
    "time.sleep(60)",
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    "open(os.environ['PIDS'], 'a').write(f'{child.pid}\\n')\nchild.wait()",
)


def test_ends_of_all_kinds_are_reported_with_the_last_lines_and_logs_are_kept(
    run_apart: Run, settings: Settings
) -> None:
    files = {
        "good.py": "print('fine')",
        "bad.py": "x = 1\nraise ValueError('no bread')",
        "killed.py": "import os, signal\nprint('on my way')\nos.kill(os.getpid(), signal.SIGKILL)",
        "gone.py": "import os\nos._exit(3)",
        "hungry.py": "import resource\nprint('much, please')\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\nb'x' * 2**32",
        "bytes.py": "import sys\nsys.stdout.buffer.write(bytes(range(256)))",
    }
    run = run_apart(tasks(*(script(name.partition(".")[0], name) for name in files)), files)
    assert states(run) == {
        "good": "SUCCESS",
        "bad": "FAILED",
        "killed": "FAILED",
        "gone": "FAILED",
        "hungry": "FAILED",
        "bytes": "SUCCESS",
    }
    errors = {task.task_key: str(task.error) for task in run.tasks}
    assert errors["bad"] == "ValueError: no bread (bad.py:2)"
    assert "SIGKILL" in errors["killed"] and errors["killed"].endswith("on my way")
    assert "exit code 3" in errors["gone"]
    assert errors["hungry"].startswith("MemoryError")
    assert log_of(settings, run, "good") == b"fine\n"
    assert log_of(settings, run, "bytes") == bytes(range(256))


def test_a_task_that_hangs_is_stopped_with_all_that_it_started_and_tried_again(
    run_apart: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIDS", str(tmp_path / "pids"))
    job = tasks(script("a", "hang.py", "timeout_seconds: 1, max_retries: 1, retry_on_timeout: true"))
    run = run_apart(job, {"hang.py": CHILD})
    assert states(run) == {"a": "FAILED"}
    assert run.tasks[0].error == "It was stopped: it ran longer than 1 seconds. (attempt 2)"
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 4
    assert not [pid for pid in pids if is_alive(pid)]


def test_when_the_run_itself_is_killed_its_tasks_end_too(
    job_of: Callable[..., Bundle], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    monkeypatch.setenv("PIDS", str(pids))
    job_of(tasks(script("a", "hang.py")), {"hang.py": CHILD})
    code = (
        "import pathlib\nfrom lakeward import jobs\nfrom lakeward.bundle import load\n"
        "from lakeward.session import Settings\nroot = pathlib.Path.cwd()\n"
        "settings = Settings.here(root, environ={}, target='dev')\n"
        "bundle = load(root, user='ann', environ={})\n"
        "options = jobs.RunOptions(isolated=True, provision=lambda *_: None)\n"
        "jobs.run(bundle, 'j', settings=settings, options=options)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path) as run:
        until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
        run.kill()
    until(lambda: not any(is_alive(int(pid)) for pid in pids.read_text().split()))


def test_independent_tasks_run_at_the_same_time(run_apart: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEWARD_TASKS", "2")
    meet = (
        "import pathlib, sys, time\nme, other = sys.argv[1:]\npathlib.Path(me).touch()\n"
        "end = time.monotonic() + 20\nwhile not pathlib.Path(other).exists():\n"
        "    assert time.monotonic() < end\n    time.sleep(0.01)\n"
    )
    lines = [
        f"task_key: {a}, spark_python_task: {{python_file: meet.py, parameters: [{a}, {b}]}}"
        for a, b in ("xy", "yx")
    ]
    assert states(run_apart(tasks(*lines), {"meet.py": meet})) == {"x": "SUCCESS", "y": "SUCCESS"}


VALUES = """
tasks:
  - {task_key: find, spark_python_task: {python_file: find.py}}
  - task_key: enough
    depends_on: [{task_key: find}]
    condition_task: {op: GREATER_THAN, left: "{{tasks.find.values.count}}", right: "1"}
  - task_key: each
    depends_on: [{task_key: enough, outcome: "true"}]
    for_each_task:
      inputs: "{{tasks.find.values.days}}"
      concurrency: 2
      task: {task_key: day, spark_python_task: {python_file: say.py, parameters: ["{{input.name}}"]}}
  - task_key: never
    depends_on: [{task_key: enough, outcome: "false"}]
    spark_python_task: {python_file: say.py}
  - task_key: last
    depends_on: [{task_key: each}]
    spark_python_task: {python_file: say.py, parameters: ["{{tasks.find.result_state}}"]}
"""
FIND = """
dbutils.jobs.taskValues.set("days", [{"name": "mon"}, {"name": "tue"}])
dbutils.jobs.taskValues.set("count", 2)
"""


def test_values_conditions_and_loops_between_processes(run_apart: Run, settings: Settings) -> None:
    run = run_apart(VALUES, {"find.py": FIND,
                             "say.py": "import sys\nprint(*sys.argv[1:])"})  # fmt: skip
    assert [task.error for task in run.tasks] == [None] * 5
    assert states(run)["never"] == "EXCLUDED"
    assert run.state == "COMPLETED"
    assert log_of(settings, run, "each[0]") + log_of(settings, run, "each[1]") == b"mon\ntue\n"
    assert log_of(settings, run, "last") == b"success\n"


def test_a_repair_runs_what_failed_and_keeps_the_rest(run_apart: Run, settings: Settings) -> None:
    files = {
        "once.py": "print('once')",
        "flaky.py": "import pathlib\nflag = pathlib.Path(__file__).with_name('flag')\n"
        "found = flag.exists()\nflag.touch()\nassert found, 'not yet'",
    }
    job = tasks(script("once", "once.py"), script("flaky", "flaky.py", "depends_on: [{task_key: once}]"))
    first = run_apart(job, files)
    assert states(first) == {"once": "SUCCESS", "flaky": "FAILED"}
    began = time.time()
    second = run_apart(job, files, repair="last")
    assert (second.run_id, second.state) == (first.run_id, "COMPLETED")
    once = settings.jobs / "j/runs" / first.run_id / "logs/once.log"
    assert once.stat().st_mtime < began


@pytest.mark.slow
def test_a_repair_of_named_tasks_runs_them_again_with_the_values_of_the_others(
    run_apart: Run, settings: Settings
) -> None:
    files = {"find.py": FIND, "say.py": "import sys\nprint(*sys.argv[1:])"}
    first = run_apart(VALUES, files)
    again = run_apart(VALUES, files, repair="last", only=["last", "each"])
    assert again.run_id == first.run_id
    assert {key for key, state in states(again).items() if state == "SUCCESS"} == {"each", "last"}
    assert log_of(settings, again, "each[1]") == b"tue\n"


def test_runs_are_kept_for_60_days_and_their_wheels_not_at_all(run_apart: Run, settings: Settings) -> None:
    runs = settings.jobs / "j/runs"
    for days in (59, 61):
        file = runs / str(days) / "run.json"
        file.parent.mkdir(parents=True)
        file.touch()
        then = time.time() - days * 24 * 3600
        os.utime(file, (then, then))
    newest = run_apart(tasks(script("a", "a.py")), {"a.py": ""}).run_id
    assert {folder.name for folder in runs.iterdir() if folder.is_dir()} == {"59", newest}
    assert {file.name for file in (runs / newest).iterdir()} == {"run.json", "logs"}


OTHER = """
bundle: {name: b}
resources:
  jobs:
    j:
      tasks:
        - task_key: a
          run_job_task: {job_id: "${resources.jobs.other.id}", job_parameters: {day: "7"}}
    other:
      parameters: [{name: day, default: x}]
      tasks:
        - task_key: t
          spark_python_task: {python_file: say.py, parameters: ["{{job.parameters.day}}"]}
"""


def test_a_job_runs_another_with_parameters(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "databricks.yml").write_text(OTHER)
    (tmp_path / "say.py").write_text("import sys\nassert sys.argv[1] == '7', sys.argv")
    bundle = load(tmp_path, user="ann", environ={})
    run = jobs.run(
        bundle, "j", settings=settings, options=jobs.RunOptions(isolated=True, provision=lambda *_: None)
    )
    assert [(task.state, task.error) for task in run.tasks] == [("SUCCESS", None)]


def test_a_wheel_is_built_and_run_from_its_archive(job_of: Callable[..., Bundle], settings: Settings) -> None:
    build = '\n[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
    project = (
        '[project]\nname = "tool"\nversion = "1"\n[project.scripts]\nshow = "tool.show:main"\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["src/tool"]\n'
    )
    job = """
    environments: [{environment_key: e, spec: {dependencies: [dist/*.whl]}}]
    tasks: [{task_key: a, environment_key: e, python_wheel_task: {package_name: tool, entry_point: show}}]
    """
    show = "def main():\n    print(__file__)\n"
    files = {"pyproject.toml": project + build, "src/tool/__init__.py": "", "src/tool/show.py": show}
    run = jobs.run(
        job_of(job, files),
        "j",
        settings=settings,
        options=jobs.RunOptions(isolated=True, provision=lambda *_: None),
    )
    assert run.state == "COMPLETED", run.tasks
    assert f"{run.run_id}/wheels/tool/tool/show.py" in log_of(settings, run, "a").decode()


def test_a_log_is_kept_up_to_its_size_and_says_what_it_lacks(tmp_path: Path) -> None:
    shown: list[str] = []
    log = TaskLog(tmp_path / "a.log", shown.append, largest=100)
    for number in range(100):
        log.write(b"line %d\n" % number)
    log.close()
    text = (tmp_path / "a.log").read_text()
    assert text.startswith("line 0\n")
    assert "690 more were printed" in text
    assert text.endswith("line 99\n")
    assert "".join(shown) == text
    assert log.last_lines.splitlines()[-1] == "line 99"


def test_a_log_has_no_secret_whatever_prints_it_and_keeps_other_bytes(tmp_path: Path) -> None:
    log = TaskLog(tmp_path / "a.log", lambda _: None)
    log.write(b"before ")
    record_secret(b"open sesame")
    for piece in (b"\xff open se", b"same\n\x80 se", b"same\nthe end: open sesame"):
        log.write(piece)
    assert log.last_lines.splitlines()[-1] == "the end: [REDACTED]"
    log.write(b" \xc3")
    log.write(b"\xa9 open ses")
    log.close()
    wanted = b"before \xff [REDACTED]\n\x80 sesame\nthe end: [REDACTED] \xc3\xa9 open ses"
    assert (tmp_path / "a.log").read_bytes() == wanted
    assert stat.S_IMODE((tmp_path / "a.log").stat().st_mode) == 0o600


def test_a_task_value_with_a_secret_is_kept_encrypted_for_a_repair(tmp_path: Path) -> None:
    secret = 'Aq7a"Zq9z'
    record_secret(secret.encode())
    values = {
        ("a", "k"): json.dumps(secret),
        ("a", "d"): json.dumps({"u": [f"x {secret}"]}),
        ("b", "n"): '"plain"',
    }
    save_run(tmp_path, "j", JobRun("7", "COMPLETED", (), 1.0), PreviousRun("7", {}, values))
    file = tmp_path / "j" / "runs" / "7" / "run.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [type(value) for _, _, value in json.loads(file.read_text())["values"]] == [dict, dict, str]
    assert not [mark for mark in ("Aq7a", "Zq9z") if mark in file.read_text()]
    secret_stores._handed_out.clear()
    assert load_previous_run(tmp_path, "j", "last").values == values
    # The run that repairs it may print the value without having read the secret.
    assert redact(f"log: {secret}") == "log: [REDACTED]"


@pytest.mark.parametrize(
    ("free", "environ", "expected"),
    [(PER_TASK // 2, {}, 1), (PER_TASK * 1000, {}, os.cpu_count()), (PER_TASK, {"LAKEWARD_TASKS": "7"}, 7)],
)
def test_as_many_tasks_run_as_cores_and_memory_allow(
    tmp_path: Path, free: int, environ: dict[str, str], expected: int
) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(f"MemTotal: 1 kB\nMemAvailable: {free // 1024} kB\n")
    assert max_parallel_tasks(environ=environ, meminfo=meminfo) == expected


def test_what_a_run_leaves_can_be_read_as_json(run_apart: Run, settings: Settings) -> None:
    run = run_apart(tasks(script("a", "a.py")), {"a.py": ""})
    kept: dict[str, Any] = json.loads((settings.jobs / "j/runs" / run.run_id / "run.json").read_text())
    assert (kept["state"], kept["ended"]["a"][0]) == ("COMPLETED", "SUCCESS")
