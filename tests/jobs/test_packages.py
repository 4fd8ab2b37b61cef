"""Packages that a job's tasks declare are installed for them, whatever field declares them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.environments.conftest import make_wheel
from tests.environments.index import use_folder_index

from lakeward.errors import LakewardError
from lakeward.jobs import JobRun

Run = Callable[..., JobRun]


@pytest.fixture(scope="module", autouse=True)
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    wheels = {("tiny", "1.0"): (), ("tiny", "1.1"): ()}
    use_folder_index(patch, tmp_path_factory.mktemp("machine"), wheels)
    yield
    patch.undo()


PROJECT = """
[project]
name = "tool"
version = "1"
dependencies = ["tiny==1.0"]
[project.scripts]
show = "tool.show:main"
"""
# Each task asserts the version of the package that it declares.
JOB = """
environments:
  - {environment_key: old, spec: {client: "2", dependencies: ["tiny==1.0"]}}
  - {environment_key: new, spec: {client: "2", dependencies: ["-r ./needs.txt"]}}
  - {environment_key: wheel, spec: {client: "2", dependencies: ["./libs/*.whl"]}}
  - {environment_key: own, spec: {client: "2", dependencies: ["dist/*.whl"]}}
tasks:
"""
TASKS = {
    "a": ("environment_key: old", "tiny", "1.0"),
    "b": ("environment_key: new", "tiny", "1.1"),
    "c": ("environment_key: wheel", "extra", "3"),
    "d": ("libraries: [{pypi: {package: tiny==1.0}}]", "tiny", "1.0"),
    "e": ("libraries: [{requirements: needs.txt}]", "tiny", "1.1"),
    "f": ("libraries: [{whl: libs/extra-3-py3-none-any.whl}]", "extra", "3"),
}
OTHERS = """
  - {task_key: g, environment_key: own, python_wheel_task: {package_name: tool, entry_point: show}}
  - task_key: h
    for_each_task:
      inputs: '["1.1"]'
      task:
        task_key: i
        environment_key: new
        spark_python_task: {python_file: main.py, parameters: [tiny, "{{input}}"]}
  - {task_key: j, spark_python_task: {python_file: without.py}}
"""
MAIN = "spark_python_task: {python_file: main.py}"
FILES = {
    "main.py": """\
        import importlib, sys
        from importlib import metadata
        module = importlib.import_module(sys.argv[1])
        assert (module.__version__, metadata.version(sys.argv[1])) == (sys.argv[2], sys.argv[2])
        """,
    "without.py": "import importlib.util\nassert importlib.util.find_spec('tiny') is None\n",
    "needs.txt": "tiny==1.1\n",
    "pyproject.toml": PROJECT,
    "src/tool/__init__.py": "",
    "src/tool/show.py": "def main():\n    import tiny\n    assert tiny.__version__ == '1.0'\n",
}


@pytest.mark.parametrize("isolated", [False, True], ids=["in process", "isolated"])
def test_every_field_that_declares_packages_gives_them_to_its_task(
    run_job: Run, tmp_path: Path, isolated: bool
) -> None:
    make_wheel(tmp_path / "libs", "extra", "3")
    tasks = "".join(
        f"  - {{task_key: {key}, {declared},"
        f" spark_python_task: {{python_file: main.py, parameters: [{package}, '{version}']}}}}\n"
        for key, (declared, package, version) in TASKS.items()
    )
    run = run_job(JOB + tasks + OTHERS, FILES, isolated=isolated)
    assert {task.task_key: (task.state, task.error) for task in run.tasks} == dict.fromkeys(
        "abcdefghj", ("SUCCESS", None)
    )


@pytest.mark.parametrize(
    "task",
    [
        "environment_key: e, spark_python_task: {python_file: main.py}",
        "libraries: [{pypi: {package: absent==9}}], spark_python_task: {python_file: main.py}",
        "for_each_task: {inputs: '[1]', task: {task_key: a, environment_key: e, %s}}",
    ],
)
def test_a_package_that_cannot_be_had_is_named_before_anything_runs(run_job: Run, task: str) -> None:
    job = "environments: [{environment_key: e, spec: {dependencies: [absent==9]}}]\n"
    first = "{task_key: first, spark_python_task: {python_file: first.py}}"
    job += f"tasks: [{first}, {{task_key: a, {task.replace('%s', MAIN)}}}]\n"
    with pytest.raises(LakewardError) as raised:
        run_job(job, {"main.py": "", "first.py": "raise RuntimeError('ran')"})
    assert raised.value.condition == "DEPENDENCY_NOT_FOUND"
    assert "The task `a`" in raised.value.message
    assert "absent==9" in raised.value.message


@pytest.mark.parametrize("isolated", [False, True], ids=["in process", "isolated"])
def test_pip_that_a_task_starts_installs_packages_of_that_task(run_job: Run, isolated: bool) -> None:
    files = {
        "main.py": "import subprocess, sys\n"
        "subprocess.check_call([sys.executable, '-m', 'pip', 'install', 'tiny==1.0'])\n"
        "import tiny\nassert tiny.__version__ == '1.0'\n",
        "without.py": FILES["without.py"],
    }
    job = """
tasks:
  - {task_key: a, spark_python_task: {python_file: main.py}}
  - {task_key: b, depends_on: [{task_key: a}], spark_python_task: {python_file: without.py}}
"""
    done = run_job(job, files, isolated=isolated)
    assert {task.task_key: (task.state, task.error) for task in done.tasks} == {
        "a": ("SUCCESS", None),
        "b": ("SUCCESS", None),
    }
