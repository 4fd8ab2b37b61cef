"""Paths are relative to the file that says them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakeward.bundle import Bundle
from lakeward.errors import BundleError

ROOT = "bundle: {name: b}\ninclude: [resources/**/*.yml]\n"


def test_paths_of_resources_become_relative_to_the_bundle(bundle_of: Callable[..., Bundle]) -> None:
    text = """
    resources:
      jobs:
        j:
          tasks:
            - task_key: a
              notebook_task: {notebook_path: ../../src/note}
            - task_key: b
              spark_python_task: {python_file: ../../src/b.py}
              libraries: [{whl: ../../dist/*.whl}, {jar: "dbfs:/x.jar"}]
          environments:
            - environment_key: e
              spec: {dependencies: [../../dist/*.whl, "numpy==2.0", /Volumes/a/b/c/x.whl, "-r ../../req.txt"]}
      pipelines:
        p:
          root_path: ../../src
          libraries: [{glob: {include: ../../src/p/**}}, {file: {path: q.py}}]
    """
    bundle = bundle_of(ROOT, files={"resources/deep/j.yml": text})
    first, second = bundle.jobs["j"]["tasks"]
    assert first["notebook_task"]["notebook_path"] == "src/note"
    assert second["spark_python_task"]["python_file"] == "src/b.py"
    assert second["libraries"] == [{"whl": "dist/*.whl"}, {"jar": "dbfs:/x.jar"}]
    assert bundle.jobs["j"]["environments"][0]["spec"]["dependencies"] == [
        "./dist/*.whl",
        "numpy==2.0",
        "/Volumes/a/b/c/x.whl",
        "-r ./req.txt",
    ]
    assert bundle.pipelines["p"]["root_path"] == "src"
    assert bundle.pipelines["p"]["libraries"] == [
        {"glob": {"include": "src/p/**"}},
        {"file": {"path": "resources/deep/q.py"}},
    ]


def test_an_override_is_relative_to_the_file_of_the_override(bundle_of: Callable[..., Bundle]) -> None:
    root = """
    bundle: {name: b}
    include: [resources/*.yml]
    targets: {dev: {resources: {pipelines: {p: {root_path: ./other}}}}}
    """
    bundle = bundle_of(root, files={"resources/p.yml": "resources: {pipelines: {p: {root_path: ../src}}}"})
    assert bundle.pipelines["p"]["root_path"] == "other"


def test_a_path_that_leaves_the_bundle_is_refused(refusal_of: Callable[..., BundleError]) -> None:
    files = {"resources/p.yml": "resources:\n  pipelines:\n    p:\n      root_path: ../../elsewhere\n"}
    error = refusal_of(ROOT, files=files)
    assert error.condition == "PATH_OUTSIDE"
    assert error.message.startswith("resources/p.yml:4:18")


_TASKS = "resources: {jobs: {j: {tasks: [{task_key: a, %s}]}}}"
_SPEC = "resources: {jobs: {j: {environments: [{environment_key: e, spec: {dependencies: [%s]}}]}}}"


@pytest.mark.parametrize(
    ("resources", "path"),
    [
        (_TASKS % "libraries: [{whl: ../../dist/*.whl}]", "../dist/*.whl"),
        (_TASKS % "libraries: [{jar: ../../dist/a.jar}]", "../dist/a.jar"),
        (_SPEC % "../../dist/*.whl", "./../dist/*.whl"),
        (
            "resources: {pipelines: {p: {environment: {dependencies: [../../dist/a-1-py3-none-any.whl]}}}}",
            "./../dist/a-1-py3-none-any.whl",
        ),
    ],
)
def test_a_library_may_be_outside_of_the_bundle(
    bundle_of: Callable[..., Bundle], resources: str, path: str
) -> None:
    """Libraries are uploaded one by one; other files are deployed with the folder of the bundle."""
    bundle = bundle_of(ROOT, files={"resources/p.yml": resources})
    assert repr(path) in str({**bundle.jobs, **bundle.pipelines})


@pytest.mark.parametrize(
    "resources",
    [
        _TASKS % "libraries: [{requirements: ../../requirements.txt}]",
        _TASKS % "notebook_task: {notebook_path: ../../n.py}",
        _SPEC % "-r ../../requirements.txt",
        _SPEC % "-e ../../package",
        _SPEC % "../../package",
    ],
)
def test_other_files_of_tasks_may_not(refusal_of: Callable[..., BundleError], resources: str) -> None:
    assert refusal_of(ROOT, files={"resources/p.yml": resources}).condition == "PATH_OUTSIDE"


@pytest.mark.parametrize("path", ["/Workspace/x/src", "dbfs:/x"])
def test_paths_elsewhere_stay(bundle_of: Callable[..., Bundle], path: str) -> None:
    bundle = bundle_of(
        ROOT, files={"resources/p.yml": f"resources: {{pipelines: {{p: {{root_path: '{path}'}}}}}}"}
    )
    assert bundle.pipelines["p"]["root_path"] == path
