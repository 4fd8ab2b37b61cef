"""The runtime that jobs and pipelines say they run on."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.bundle import load, runtime_here, runtime_of

BUNDLE = """
bundle: {name: b}
resources:
  jobs:
    classic:
      job_clusters:
        - {job_cluster_key: main, new_cluster: {spark_version: 15.4.x-scala2.12}}
      tasks:
        - {task_key: p, pipeline_task: {pipeline_id: x}}
        - {task_key: a, job_cluster_key: main, notebook_task: {notebook_path: /a}}
    own_cluster:
      tasks:
        - {task_key: a, new_cluster: {spark_version: 16.4.x-scala2.12}, notebook_task: {notebook_path: /a}}
    serverless:
      tasks:
        - {task_key: a, environment_key: e, spark_python_task: {python_file: /a}}
    somewhere:
      tasks:
        - {task_key: a, existing_cluster_id: 1-2-3, notebook_task: {notebook_path: /a}}
  pipelines:
    plain: {name: plain}
    modern: {name: modern, serverless: true}
"""


def test_each_says_its_own_and_the_bundle_what_its_first_cluster_says(tmp_path: Path) -> None:
    (tmp_path / "databricks.yml").write_text(BUNDLE)
    bundle = load(tmp_path, None, {})
    assert {key: runtime_of(bundle, key) for key in (*bundle.jobs, *bundle.pipelines)} == {
        "classic": "15.4.x-scala2.12",
        "own_cluster": "16.4.x-scala2.12",
        "serverless": "serverless",
        "somewhere": None,
        "plain": None,
        "modern": "serverless",
    }
    assert runtime_of(bundle) == "15.4.x-scala2.12"


SERVERLESS_JOB = "    a: {tasks: [{task_key: a, environment_key: e, spark_python_task: {python_file: /a}}]}\n"
CLASSIC_JOB = (
    "    {key}: {{tasks: [{{task_key: a, notebook_task: {{notebook_path: /a}}, "
    "new_cluster: {{spark_version: {version}.x-scala2.12}}}}]}}\n"
)


@pytest.mark.parametrize("has_pipeline", [True, False])
@pytest.mark.parametrize("has_serverless_job", [True, False])
@pytest.mark.parametrize("clusters", [(), ("15.4",), ("16.4", "15.4")])
def test_a_bundle_is_serverless_only_where_no_job_names_a_cluster(
    tmp_path: Path, has_pipeline: bool, has_serverless_job: bool, clusters: tuple[str, ...]
) -> None:
    jobs = SERVERLESS_JOB * has_serverless_job
    jobs += "".join(CLASSIC_JOB.format(key=f"j{at}", version=each) for at, each in enumerate(clusters))
    text = "bundle: {name: b}\nresources:\n" + ("  jobs:\n" + jobs if jobs else "")
    text += "  pipelines: {p: {name: p, serverless: true}}\n" * has_pipeline
    (tmp_path / "databricks.yml").write_text(text)
    serverless = "serverless" if has_pipeline or has_serverless_job else None
    expected = f"{clusters[0]}.x-scala2.12" if clusters else serverless
    assert runtime_of(load(tmp_path, None, {})) == expected


def test_a_bundle_may_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "databricks.yml").write_text("bundle: {name: b}\n")
    assert runtime_of(load(tmp_path, None, {})) is None


CLUSTER = """
        - {{task_key: a, new_cluster: {{spark_version: "{version}"}}, notebook_task: {{notebook_path: /a}}}}
"""
TARGETS = {
    "one default": "targets: {dev: {default: true}, prod: {}}",
    "two defaults": "targets: {dev: {default: true}, prod: {default: true}}",
    "no default": "targets: {dev: {}, prod: {}}",
    "none": "",
}
VERSIONS = {
    "in the job": ("16.4.x-scala2.12", "", "16.4"),
    "in a variable": ("${var.v}", "variables: {v: {default: 15.4.x-scala2.12}}", "15.4"),
    "next to a variable without value": ("16.4.x-scala2.12", "variables: {other: {}}", "16.4"),
    "in a variable without value": ("${var.v}", "variables: {v: {}}", None),
}


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("version", VERSIONS)
def test_tests_find_the_runtime_of_a_bundle_with_any_targets(
    tmp_path: Path, targets: str, version: str
) -> None:
    named, variables, found = VERSIONS[version]
    jobs = "resources:\n  jobs:\n    j:\n      tasks:" + CLUSTER.format(version=named)
    text = f"bundle: {{name: b}}\n{variables}\n{TARGETS[targets]}\n{jobs}"
    (tmp_path / "databricks.yml").write_text(text)
    assert runtime_here(tmp_path) == found


def test_the_first_target_that_names_a_runtime_decides_without_a_default(tmp_path: Path) -> None:
    job = "{resources: {jobs: {j: {tasks: [{task_key: a, notebook_task: {notebook_path: /a}, new_cluster: "
    two = job + "{spark_version: 14.3.x-scala2.12}}]}}}}"
    text = f"bundle: {{name: b}}\ntargets:\n  one: {{}}\n  two: {two}\n"
    (tmp_path / "databricks.yml").write_text(text)
    assert runtime_here(tmp_path) == "14.3"
