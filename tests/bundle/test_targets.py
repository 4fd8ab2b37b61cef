"""Which target is meant, and what it overrides."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakeward.bundle import Bundle
from lakeward.errors import BundleError

TWO = """
bundle: {name: b}
variables: {size: {default: small}}
resources:
  jobs:
    j:
      name: job ${var.size}
      tags: {a: "1", b: "2"}
      tasks:
        - task_key: one
          spark_python_task: {python_file: one.py, parameters: [x]}
        - task_key: two
          spark_python_task: {python_file: two.py}
targets:
  dev: {default: true}
  prod:
    variables: {size: large}
    resources:
      jobs:
        j:
          tags: {b: "3"}
          tasks:
            - task_key: two
              timeout_seconds: 60
            - task_key: three
              spark_python_task: {python_file: three.py}
"""


def test_without_a_name_the_default_target_is_meant(bundle_of: Callable[..., Bundle]) -> None:
    bundle = bundle_of(TWO)
    assert (bundle.target, bundle.jobs["j"]["name"]) == ("dev", "job small")
    assert bundle.config["bundle"]["target"] == "dev"


@pytest.mark.parametrize("section", ["targets", "environments"])
def test_the_target_has_its_name_before_2023_too(bundle_of: Callable[..., Bundle], section: str) -> None:
    text = TWO.replace("targets:", f"{section}:").replace(
        "job ${var.size}", "${bundle.environment}-${bundle.target}"
    )
    assert [bundle_of(text, target=name).jobs["j"]["name"] for name in ("dev", "prod")] == [
        "dev-dev",
        "prod-prod",
    ]


def test_an_unknown_target_names_its_near_misses(refusal_of: Callable[..., BundleError]) -> None:
    error = refusal_of(TWO, target="prd")
    assert error.condition == "TARGET_UNKNOWN"
    assert "Did you mean `prod`" in str(error)
    assert "dev, prod" in str(error)


def test_the_environment_may_name_the_target(bundle_of: Callable[..., Bundle]) -> None:
    assert bundle_of(TWO, environ={"DATABRICKS_BUNDLE_TARGET": "prod"}).target == "prod"
    assert bundle_of(TWO, target="dev", environ={"DATABRICKS_BUNDLE_TARGET": "prod"}).target == "dev"


def test_a_target_is_laid_deep_over_the_rest_and_tasks_merge_by_key(bundle_of: Callable[..., Bundle]) -> None:
    job = bundle_of(TWO, target="prod").jobs["j"]
    assert job["name"] == "job large"
    assert job["tags"] == {"a": "1", "b": "3"}
    assert [task["task_key"] for task in job["tasks"]] == ["one", "two", "three"]
    assert job["tasks"][1]["spark_python_task"]["python_file"] == "two.py"
    assert job["tasks"][1]["timeout_seconds"] == 60


def test_an_empty_setting_of_a_target_leaves_the_setting_as_it_is(bundle_of: Callable[..., Bundle]) -> None:
    text = """
    bundle: {name: b}
    resources: {jobs: {j: {name: x}}}
    targets: {dev: {resources: {jobs: {j: {name: }}}}}
    """
    assert bundle_of(text).jobs["j"] == {"name": "x"}


def test_other_lists_are_appended_to(bundle_of: Callable[..., Bundle]) -> None:
    text = """
    bundle: {name: b}
    sync: {exclude: [a]}
    targets: {dev: {sync: {exclude: [b]}}}
    """
    assert bundle_of(text).config["sync"]["exclude"] == ["a", "b"]


def test_the_only_target_needs_no_default_and_none_is_called_default(
    bundle_of: Callable[..., Bundle],
) -> None:
    assert bundle_of("bundle: {name: b}\ntargets: {one: {}}").target == "one"
    assert bundle_of("bundle: {name: b}").target == "default"


@pytest.mark.parametrize(
    "targets", ["{a: {}, b: {}}", "{a: {default: true}, b: {default: true}}"], ids=["none", "two"]
)
def test_several_targets_need_exactly_one_default(
    refusal_of: Callable[..., BundleError], targets: str
) -> None:
    assert refusal_of(f"bundle: {{name: b}}\ntargets: {targets}\n").condition == "TARGET_AMBIGUOUS"


def test_a_mistyped_setting_of_a_target_is_a_warning(bundle_of: Callable[..., Bundle]) -> None:
    (notice,) = bundle_of("bundle: {name: b}\ntargets:\n  dev:\n    resource: {jobs: {}}\n").notices
    assert "databricks.yml:4:5: Unknown field: resource." in str(notice)
    assert "`resources`" in str(notice)


def test_a_resource_may_exist_in_one_target_only(bundle_of: Callable[..., Bundle]) -> None:
    text = "bundle: {name: b}\ntargets: {a: {default: true}, b: {resources: {jobs: {only_b: {name: x}}}}}\n"
    assert "only_b" not in bundle_of(text).jobs
    assert "only_b" in bundle_of(text, target="b").jobs


def test_run_as_goes_to_every_job_and_pipeline_that_has_none(bundle_of: Callable[..., Bundle]) -> None:
    text = """
    bundle: {name: b}
    resources:
      jobs: {a: {name: a}, b: {name: b, run_as: {user_name: bob}}}
      pipelines: {p: {name: p}}
    permissions: [{level: CAN_VIEW, group_name: readers}]
    targets: {prod: {run_as: {service_principal_name: "11111111-2222-3333-4444-555555555555"}}}
    """
    bundle = bundle_of(text)
    robot = {"service_principal_name": "11111111-2222-3333-4444-555555555555"}
    assert bundle.jobs["a"]["run_as"] == robot
    assert bundle.pipelines["p"]["run_as"] == robot
    assert bundle.jobs["b"]["run_as"] == {"user_name": "bob"}
    assert bundle.config["permissions"] == [{"level": "CAN_VIEW", "group_name": "readers"}]


def test_run_as_names_exactly_one_identity(refusal_of: Callable[..., BundleError]) -> None:
    text = "bundle: {name: b}\nrun_as: {user_name: a, service_principal_name: b}\n"
    assert refusal_of(text).condition == "RUN_AS_INVALID"
