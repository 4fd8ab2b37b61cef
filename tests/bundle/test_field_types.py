"""Values of another type than their field's: ignored with a warning in bundles, refused in files of jobs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lakeward.bundle import FIELD_TYPE, Bundle, findings, load_jobs
from lakeward.errors import BundleError

Make = Callable[..., Bundle]

_TASK = "task_key: b, notebook_task: {notebook_path: n}"
# The settings of a job, and the types that the warning names.
_MISTYPED = [
    ("tasks: {a: {notebook_task: {notebook_path: n}}}", "tasks", "sequence", "map"),
    ("tasks: nothing", "tasks", "sequence", "string"),
    ("tasks: [a]", "tasks", "map", "string"),
    ("tasks: [[{task_key: a}]]", "tasks", "map", "sequence"),
    ("tasks: [{task_key: b, notebook_task: n.py}]", "notebook_task", "map", "string"),
    (f"tasks: [{{{_TASK}, depends_on: [a]}}]", "depends_on", "map", "string"),
    (f"tasks: [{{{_TASK}, depends_on: a}}]", "depends_on", "sequence", "string"),
    (f"tasks: [{{{_TASK}, depends_on: {{task_key: a}}}}]", "depends_on", "sequence", "map"),
    (f"tasks: [{{{_TASK}, libraries: [numpy]}}]", "libraries", "map", "string"),
    (f"tasks: [{{{_TASK}, libraries: [{{pypi: numpy}}]}}]", "pypi", "map", "string"),
    (f"tasks: [{{{_TASK}, max_retries: three}}]", "max_retries", "int", "string"),
    (f"tasks: [{{{_TASK}, disabled: perhaps}}]", "disabled", "bool", "string"),
    (f"tasks: [{{{_TASK}, run_if: [ALL_DONE]}}]", "run_if", "string", "sequence"),
    ("tasks: [{task_key: [a], description: x}]", "task_key", "string", "sequence"),
    ("tasks: [{task_key: a, notebook_task: {base_parameters: [1]}}]", "base_parameters", "map", "sequence"),
    ("tasks: [{task_key: a, for_each_task: {inputs: [1, 2]}}]", "inputs", "string", "sequence"),
    ("parameters: {day: 1}", "parameters", "sequence", "map"),
    ("parameters: [day]", "parameters", "map", "string"),
    ("job_clusters: [c]", "job_clusters", "map", "string"),
    (
        "environments: [{environment_key: e, spec: {dependencies: numpy}}]",
        "dependencies",
        "sequence",
        "string",
    ),
    ("schedule: daily", "schedule", "map", "string"),
    # The kinds of lookups are words of their own.
    ("schedule: job", "schedule", "map", "string"),
    ("tags: [a]", "tags", "map", "sequence"),
]


def _types(bundle: Bundle) -> list[tuple[str, int]]:
    """Return messages and lines of the warnings about types."""
    return [
        (each.message, each.position.line if each.position else 0)
        for each in findings(bundle)
        if each.rule == "field-type"
    ]


@pytest.mark.parametrize(("job", "field", "expected", "found"), _MISTYPED)
def test_a_mistyped_value_is_ignored_with_a_warning(
    bundle_of: Make, job: str, field: str, expected: str, found: str
) -> None:
    bundle = bundle_of(f"bundle: {{name: b}}\nresources:\n  jobs:\n    j: {{{job}}}\n")
    message = f"`{field}`: expected {expected}, found {found}. The value is ignored."
    assert _types(bundle) == [(message, 4)]


@pytest.mark.parametrize(("job", "field", "expected", "found"), _MISTYPED)
def test_a_mistyped_value_in_a_file_of_jobs_is_an_error(
    tmp_path: Path, job: str, field: str, expected: str, found: str
) -> None:
    file = tmp_path / "job.yml"
    file.write_text(f"resources: {{jobs: {{j: {{{job}}}}}}}")
    with pytest.raises(BundleError) as caught:
        load_jobs(file, user="ada")
    assert caught.value.condition == "JOB_FILE_INVALID"
    assert f"`{field}`: expected {expected}, found {found}." in caught.value.message


@pytest.mark.parametrize(
    "rest",
    [
        "targets: {dev: {resources: {jobs: {j: {tasks: [{task_key: a, depends_on: [x]}]}}}}}",
        "environments: {dev: {resources: {jobs: {j: {tasks: [{task_key: a, depends_on: [x]}]}}}}}",
        """variables: {edges: {type: complex, default: [x]}}
targets: {dev: {resources: {jobs: {j: {tasks: [{task_key: a, depends_on: "${var.edges}"}]}}}}}""",
    ],
    ids=["target", "environment", "variable"],
)
def test_targets_and_values_of_variables_have_types_too(bundle_of: Make, rest: str) -> None:
    job = "resources: {jobs: {j: {tasks: [{task_key: a, notebook_task: {notebook_path: n}}]}}}"
    bundle = bundle_of(f"bundle: {{name: b}}\n{job}\n{rest}\n")
    assert [message for message, _ in _types(bundle)] == [
        "`depends_on`: expected map, found string. The value is ignored."
    ]
    assert not bundle.jobs["j"]["tasks"][0]["depends_on"]


@pytest.mark.parametrize(
    "job",
    [
        "timeout_seconds: '60', max_concurrent_runs: 2.0, name: 7",
        "tasks: , parameters: []",
        f"tasks: [{{{_TASK}, max_retries: '${{var.n}}', disabled: '${{var.yes}}'}}]",
        f"tasks: [{{{_TASK}, depends_on: '${{var.edges}}'}}]",
        f"tasks: [{{{_TASK}, disabled: 'yes', libraries: [{{whl: a.whl}}], description: 2026-01-01}}]",
        "tags: {a: 1, b: true}",
        "git_source: {git_url: x, git_provider: gitHub, git_branch: main}",
    ],
)
def test_values_that_fit_are_kept(bundle_of: Make, job: str) -> None:
    variables = "variables: {n: {default: 3}, yes: {default: true}, edges: {default: []}}"
    bundle = bundle_of(f"bundle: {{name: b}}\n{variables}\nresources: {{jobs: {{j: {{{job}}}}}}}\n")
    assert _types(bundle) == []


@pytest.mark.parametrize(
    "kind", ["jobs", "pipelines", "secret_scopes", "dashboards", "experiments", "volumes"]
)
@pytest.mark.parametrize("entry", ["CAN_VIEW", "[[]]", "5"])
def test_mistyped_permissions_of_every_kind_are_ignored(bundle_of: Make, kind: str, entry: str) -> None:
    bundle = bundle_of(
        f"bundle: {{name: b}}\nresources: {{{kind}: {{x: {{name: x, permissions: [{entry}]}}}}}}\n"
    )
    (notice,) = [finding for finding in findings(bundle) if finding.rule == FIELD_TYPE]
    assert notice.message.startswith("`permissions`: expected map, found ")
    assert bundle.resources(kind)["x"]["permissions"] == []
