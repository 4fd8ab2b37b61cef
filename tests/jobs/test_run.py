"""A run of a job: which tasks run, with what, and what is said about them."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lakeward import jobs
from lakeward.bundle import Bundle
from lakeward.errors import ConfigurationError, JobError
from lakeward.jobs import REFUSED, JobRun, TaskProgress
from lakeward.jobs.concurrency import run_lock
from lakeward.report import build_run_report, stored_runs
from lakeward.session import Settings
from lakeward.session.jvm import interrupts

Run = Callable[..., JobRun]

SHOW = """
import json, os, sys
with open(os.environ["OUT"], "a") as file:
    file.write(json.dumps(sys.argv) + "\\n")
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[list[str]]]:
    """What SHOW was called with so far."""
    out = tmp_path / "calls.jsonl"
    monkeypatch.setenv("OUT", str(out))
    return lambda: [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def script(key: str, file: str, after: str = "", parameters: str = "[]") -> str:
    upstream = ", ".join(f"{{task_key: {name}}}" for name in after.split())
    settings = f"{{python_file: {file}, parameters: {parameters}}}"
    return f"  - {{task_key: {key}, depends_on: [{upstream}], spark_python_task: {settings}}}\n"


def states(run: JobRun) -> dict[str, str]:
    return {task.task_key: task.state for task in run.tasks}


def test_a_script_gets_its_parameters_as_arguments(
    run_job: Run, calls: Callable[[], Any], tmp_path: Path
) -> None:
    job = "parameters: [{name: day, default: '1'}]\ntasks:\n" + script(
        "a", "src/show.py", parameters="['--day', '{{job.parameters.day}}']"
    )
    run = run_job(job, {"src/show.py": SHOW}, parameters={"day": "5"})
    assert run.state == "COMPLETED"
    assert calls() == [[str(tmp_path / "src/show.py"), "--day", "5"]]


def test_modules_next_to_a_script_are_found_and_its_traces_removed(run_job: Run) -> None:
    files = {"a/main.py": "import sibling\nassert sibling.WHO == 'a'\n", "a/sibling.py": "WHO = 'a'"}
    files |= {"b/main.py": "import sibling\nassert sibling.WHO == 'b'\n", "b/sibling.py": "WHO = 'b'"}
    before = (list(sys.path), list(sys.argv))
    run = run_job("tasks:\n" + script("one", "a/main.py") + script("two", "b/main.py"), files)
    assert states(run) == {"one": "SUCCESS", "two": "SUCCESS"}
    assert (list(sys.path), list(sys.argv)) == before
    assert "sibling" not in sys.modules


WHEEL = """
parameters: [{name: source, default: ""}, {name: days, default: "2"}]
environments: [{environment_key: e, spec: {dependencies: [dist/*.whl]}}]
tasks:
  - task_key: a
    environment_key: e
    python_wheel_task: {package_name: tool, entry_point: show, %s}
"""


def test_installed_packages_stay_loaded_even_from_an_environment_inside_the_bundle(
    run_job: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path / ".venv/lib/site-packages")
    files = {
        ".venv/lib/site-packages/heavy_extension.py": "",
        "main.py": "import heavy_extension, own_module",
    }
    run = run_job("tasks:\n" + script("a", "main.py"), {**files, "own_module.py": ""})
    assert run.state == "COMPLETED"
    assert sys.modules.pop("heavy_extension", None) is not None
    assert "own_module" not in sys.modules


WHEEL_TASK = "python_wheel_task: {package_name: tool, entry_point: show, "
TOOL = {"src/tool/__init__.py": "", "src/tool/show.py": "def main():" + SHOW.replace("\n", "\n    ")}


def test_named_parameters_arrive_as_options_with_all_of_the_jobs(
    run_job: Run, calls: Callable[[], Any]
) -> None:
    run = run_job(
        WHEEL % "named_parameters: {source: x, landing: /Volumes/a}", TOOL, parameters={"source": "s p"}
    )
    assert states(run) == {"a": "SUCCESS"}
    # The job's parameters are pushed down and win over the task's own of the same name.
    assert calls() == [["tool", "--source=s p", "--landing=/Volumes/a", "--days=2"]]


@pytest.mark.parametrize("given", ["", "named_parameters: {}", "parameters: []"])
def test_a_wheel_task_without_parameters_is_given_those_of_the_job(
    run_job: Run, calls: Callable[[], Any], given: str
) -> None:
    run = run_job(WHEEL % given, TOOL, parameters={"source": "s p"})
    assert states(run) == {"a": "SUCCESS"}
    assert calls() == [["tool", "--source=s p", "--days=2"]]


def test_positional_parameters_arrive_as_they_are(run_job: Run, calls: Callable[[], Any]) -> None:
    run_job(WHEEL % "parameters: [--x, '{{job.parameters.days}}', 3]", TOOL)
    assert calls() == [["tool", "--x", "2", "3"]]


def test_a_script_sees_the_wheel_only_through_its_environment(run_job: Run) -> None:
    files = {**TOOL, "main.py": "import tool.show\n", "requirements.txt": "numpy\n"}
    environment = "environments: [{environment_key: e, spec: {dependencies: [dist/*.whl]}}]\n"
    without = "tasks: [{task_key: a, spark_python_task: {python_file: main.py}}]\n"
    assert run_job(
        environment + without.replace("{task_key: a,", "{task_key: a, environment_key: e,"), files
    ).state == ("COMPLETED")
    other = environment.replace("dist/*.whl", "numpy, -r requirements.txt")
    for job in (
        environment + without,
        other + without.replace("{task_key: a,", "{task_key: a, environment_key: e,"),
    ):
        failed = run_job(job, files)
        assert failed.state == "FAILED"
        assert failed.tasks[0].error == "ModuleNotFoundError: No module named 'tool' (main.py:1)"


def test_a_failed_task_skips_its_dependants_and_the_others_go_on(
    run_job: Run, calls: Callable[[], Any]
) -> None:
    job = "tasks:\n"
    job += script("bad", "bad.py") + script("after", "show.py", "bad") + script("later", "show.py", "after")
    job += script("other", "show.py", parameters="[other]")
    events: list[Any] = []
    run = run_job(
        job, {"bad.py": "x = 1\nraise ValueError('no bread')\n", "show.py": SHOW}, on_event=events.append
    )
    assert run.state == "FAILED"
    assert states(run) == {"bad": "FAILED", "after": "SKIPPED", "later": "SKIPPED", "other": "SUCCESS"}
    assert run.tasks[0].error == "ValueError: no bread (bad.py:2)"
    assert "bad" in str(run.tasks[1].error)
    assert [call[1:] for call in calls()] == [["other"]]
    assert all(isinstance(event, TaskProgress) for event in events)
    assert [(event.task_key, event.state) for event in events] == [
        ("bad", "RUNNING"),
        ("bad", "FAILED"),
        ("after", "SKIPPED"),
        ("later", "SKIPPED"),
        ("other", "RUNNING"),
        ("other", "SUCCESS"),
    ]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import os\ndef f():\n    raise KeyError('k')\nf()\n", "KeyError: 'k' (main.py:3)"),
        ("def f(:\n", "SyntaxError: invalid syntax (main.py:1)"),
        ("import json\njson.loads('{')\n", "JSONDecodeError: "),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3 (main.py:2)"),
        ("raise SystemExit('no such day')\n", "SystemExit: no such day (main.py:1)"),
        ("import no_such_thing\n", "ModuleNotFoundError: No module named 'no_such_thing' (main.py:1)"),
        ("raise RuntimeError\n", "RuntimeError (main.py:1)"),
    ],
)
def test_the_error_of_a_task_is_its_exception_and_its_own_line(run_job: Run, code: str, error: str) -> None:
    run = run_job("tasks:\n" + script("a", "main.py"), {"main.py": code})
    found = str(run.tasks[0].error)
    assert run.state == "FAILED"
    assert found == error or found.startswith(error)
    assert "(main.py:" in found
    assert "Traceback" not in found
    assert "lakeward" not in found


NESTED = """
import json

def outer():
    inner()

def inner():
    try:
        json.loads("{")
    except ValueError as error:
        raise RuntimeError("no bread") from error

outer()
"""


def test_the_trace_of_a_task_is_the_user_s_own_from_its_first_line_on(run_job: Run) -> None:
    (task,) = run_job("tasks:\n" + script("a", "main.py"), {"main.py": NESTED}).tasks
    assert task.trace is not None
    functions = [line.rpartition(" in ")[2] for line in task.trace.splitlines() if "main.py" in line]
    assert functions == ["inner", "<module>", "outer", "inner"]
    assert "JSONDecodeError" in task.trace and task.trace.endswith("RuntimeError: no bread\n")
    assert "/lakeward/" not in task.trace
    for code in ("import sys\nsys.exit(3)\n", "pass"):
        (task,) = run_job("tasks:\n" + script("a", "main.py"), {"main.py": code}).tasks
        assert task.trace is None


@pytest.mark.parametrize("code", ["raise SystemExit", "import sys; sys.exit(0)", "pass"])
def test_leaving_with_zero_or_nothing_is_success(run_job: Run, code: str) -> None:
    assert run_job("tasks:\n" + script("a", "main.py"), {"main.py": code}).state == "COMPLETED"


def test_ctrl_c_cancels_the_task_and_all_that_follow(run_job: Run) -> None:
    job = "tasks:\n" + script("a", "stop.py") + script("b", "show.py", "a") + script("c", "show.py")
    run = run_job(job, {"stop.py": "raise KeyboardInterrupt", "show.py": "raise AssertionError"})
    assert run.state == "CANCELED"
    assert set(states(run).values()) == {"CANCELED"}


def test_an_error_that_follows_ctrl_c_cancels_the_task(run_job: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "_interrupts", 0)
    code = "from lakeward.session.jvm import interrupts\ninterrupts._interrupts += 1\nraise RuntimeError"
    run = run_job("tasks:\n" + script("a", "stop.py"), {"stop.py": code})
    assert run.state == "CANCELED"


def test_only_runs_the_named_tasks_and_needs_nothing_of_the_others(
    run_job: Run, calls: Callable[[], Any]
) -> None:
    job = "tasks:\n" + script("a", "show.py") + script("b", "show.py", "a") + script("c", "show.py", "b")
    run = run_job(job, {"show.py": SHOW}, only=["b"])
    assert run.state == "COMPLETED"
    assert states(run) == {"a": "EXCLUDED", "b": "SUCCESS", "c": "EXCLUDED"}
    assert len(calls()) == 1


@pytest.mark.parametrize(
    ("only", "state"),
    [(["a"], "FAILED"), (["a", "b"], "FAILED"), (["a", "c"], "FAILED"), (["c"], "COMPLETED"), ([], "FAILED")],
)
def test_a_task_that_is_left_out_does_not_hide_the_failure_of_its_upstream(
    run_job: Run, only: list[str], state: str
) -> None:
    job = "tasks:\n" + script("a", "fail.py") + script("b", "pass.py", "a") + script("c", "pass.py")
    files = {"pass.py": "", "fail.py": "raise ValueError"}
    assert run_job(job, files, only=only).state == state
    disabled = job.replace("task_key: b", "task_key: b, disabled: true")
    assert disabled != job
    assert run_job(disabled, files, only=only).state == state


def test_a_disabled_task_is_left_out(run_job: Run, calls: Callable[[], Any]) -> None:
    job = "tasks: [{task_key: a, disabled: true, spark_python_task: {python_file: show.py}}]"
    assert states(run_job(job, {"show.py": SHOW})) == {"a": "EXCLUDED"}
    assert calls() == []


def test_a_dry_run_checks_everything_and_runs_no_code(run_job: Run, calls: Callable[[], Any]) -> None:
    run = run_job(WHEEL % "parameters: []", TOOL, dry_run=True)
    assert (run.state, states(run), calls()) == ("COMPLETED", {"a": "CHECKED"}, [])
    with pytest.raises(ConfigurationError):
        run_job((WHEEL % "parameters: []").replace("point: show", "point: shwo"), TOOL, dry_run=True)


@pytest.mark.parametrize(
    ("task", "condition"),
    [
        ("spark_python_task: {python_file: missing.py}", "FILE_NOT_FOUND"),
        ("spark_python_task: {python_file: src}", "FILE_NOT_FOUND"),
        ("spark_python_task: {python_file: a.py, source: GIT}", "TASK_INVALID"),
        ("python_wheel_task: {package_name: tool}", "TASK_INVALID"),
        ("python_wheel_task: {package_name: tool, entry_point: nothing}", "ENTRY_POINT_UNKNOWN"),
        ("python_wheel_task: {package_name: other, entry_point: show}", "ARTIFACT_UNKNOWN"),
        (WHEEL_TASK + "parameters: [a], named_parameters: {b: c}}", "TASK_INVALID"),
        ("pipeline_task: {pipeline_id: 1234}", "PIPELINE_UNKNOWN"),
        ("notebook_task: {notebook_path: x}", "NOTEBOOK_NOT_FOUND"),
        ("spark_submit_task: {parameters: [x]}", "TASK_NOT_SUPPORTED"),
    ],
)
def test_what_is_wrong_in_a_definition_is_found_before_anything_runs(
    run_job: Run, calls: Callable[[], Any], task: str, condition: str
) -> None:
    job = f"tasks:\n{script('first', 'src/show.py')}  - {{task_key: wrong, {task}}}\n"
    with pytest.raises(ConfigurationError) as caught:
        run_job(job, {**TOOL, "src/show.py": SHOW})
    assert caught.value.condition == condition
    assert calls() == []


@pytest.mark.parametrize("kind", sorted(REFUSED))
def test_a_kind_of_task_that_cannot_run_here_is_refused_with_the_reason(run_job: Run, kind: str) -> None:
    with pytest.raises(ConfigurationError, match=f"is a {kind}, which cannot be run here") as caught:
        run_job(f"tasks:\n  - {{task_key: wrong, {kind}: {{}}}}\n")
    assert caught.value.condition == "TASK_NOT_SUPPORTED"
    assert REFUSED[kind] in str(caught.value)
    assert "`--exclude wrong` runs the other tasks." in str(caught.value)


@pytest.mark.parametrize("what", ["dashboard: {dashboard_id: a}", "alert: {alert_id: a}"])
def test_what_only_a_warehouse_has_is_refused(run_job: Run, what: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        run_job(f"tasks:\n  - {{task_key: wrong, sql_task: {{warehouse_id: w, {what}}}}}\n")
    assert caught.value.condition == "TASK_NOT_SUPPORTED"
    assert f"runs {what.partition(':')[0]} on a warehouse" in str(caught.value)
    assert "`--exclude wrong` runs the other tasks." in str(caught.value)


def test_exclude_runs_the_tasks_before_and_after_one_that_cannot_run_here(run_job: Run) -> None:
    wrong = "  - {task_key: wrong, depends_on: [{task_key: a}], spark_jar_task: {main_class_name: x}}\n"
    job = "tasks:\n" + script("a", "pass.py") + wrong + script("b", "pass.py", "wrong")
    run = run_job(job, {"pass.py": ""}, exclude=["wrong"])
    assert run.state == "COMPLETED"
    assert states(run) == {"a": "SUCCESS", "wrong": "EXCLUDED", "b": "SUCCESS"}


def test_an_entry_point_that_leads_to_nothing_fails_its_task(run_job: Run) -> None:
    run = run_job(WHEEL % "parameters: []", {**TOOL, "src/tool/show.py": "def other(): pass"})
    assert "has no `main`" in str(run.tasks[0].error)
    assert ".py" not in str(run.tasks[0].error)


def test_output_of_tasks_goes_where_it_is_sent(run_job: Run, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = io.StringIO()
    run_job("tasks:\n" + script("a", "main.py"), {"main.py": "print('hello')"}, stdout=elsewhere)
    assert (elsewhere.getvalue(), capsys.readouterr().out) == ("hello\n", "")


def test_the_json_of_a_run_has_exactly_the_agreed_shape(run_job: Run) -> None:
    run = run_job("tasks:\n" + script("a", "main.py"), {"main.py": "pass"})
    found = run.as_json()
    assert list(found) == ["state", "run_id", "datasets", "tasks", "seconds"]
    assert (found["state"], found["datasets"]) == ("COMPLETED", [])
    (task,) = found["tasks"]
    assert list(task) == ["task_key", "state", "seconds", "error"]
    assert (task["task_key"], task["state"], task["error"]) == ("a", "SUCCESS", None)
    assert 0 <= task["seconds"] <= found["seconds"]
    json.dumps(found)


def test_two_runs_of_one_job_in_one_target_exclude_each_other(
    job_of: Callable[..., Bundle], settings: Settings
) -> None:
    bundle = job_of("tasks:\n" + script("a", "main.py"), {"main.py": "pass"})
    with run_lock(settings.jobs, "j", "other"):
        with pytest.raises(
            JobError, match=f"job j of target dev is already being run, by process {os.getpid()}"
        ):
            jobs.run(bundle, "j", settings=settings, options=jobs.RunOptions(provision=lambda *_: None))
        elsewhere = settings.with_(target="prod")
        assert (
            jobs.run(
                bundle, "j", settings=elsewhere, options=jobs.RunOptions(provision=lambda *_: None)
            ).state
            == "COMPLETED"
        )


def test_an_unknown_job_names_near_misses(job_of: Callable[..., Bundle], settings: Settings) -> None:
    bundle = job_of("tasks:\n" + script("a", "main.py"), {"main.py": "pass"})
    with pytest.raises(ConfigurationError, match="Known jobs: j"):
        jobs.run(bundle, "k", settings=settings)


def test_a_run_has_a_report_before_it_ends(
    run_job: Run, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, copy = settings.jobs / "j" / "runs", tmp_path / "killed"
    monkeypatch.setenv("RUNS", str(runs))
    monkeypatch.setenv("COPY", str(copy))
    stopped = "import os, shutil\nshutil.copytree(os.environ['RUNS'], os.environ['COPY'] + '/runs')\n"
    tasks = script("one", "a.py") + script("two", "b.py", after="one") + script("three", "a.py", after="two")
    run = run_job("parameters: [{name: day, default: '1'}]\ntasks:\n" + tasks, {"a.py": "", "b.py": stopped})
    [folder] = stored_runs(copy)
    document = build_run_report("j", folder)
    assert document is not None
    assert (folder.name, document["state"], document["parameters"]) == (
        run.run_id,
        "UNFINISHED",
        {"day": "1"},
    )
    assert {each["task_key"]: each["state"] for each in document["tasks"]} == {
        "one": "SUCCESS", "two": "RUNNING", "three": "QUEUED"
    }  # fmt: skip
    assert document["tasks"][2]["depends_on"] == ["two"]
    assert "has not ended" in document["notes"][0]
    ended = build_run_report("j", runs / run.run_id)
    assert ended is not None
    assert (ended["state"], ended["notes"]) == ("COMPLETED", [])
