"""The bundle of this repository: both targets are complete, typed, and share nothing (BN-4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from databricks.bundles.dashboards import Dashboard
from databricks.bundles.jobs import Job
from databricks.bundles.pipelines import Pipeline
from databricks.bundles.schemas import Schema
from databricks.bundles.secret_scopes import SecretScope
from databricks.bundles.volumes import Volume
from databricks.sdk.service.jobs import JobSettings
from databricks.sdk.service.pipelines import PipelineSpec

from lakeward.bundle import Bundle, findings, load

ROOT = Path(__file__).resolve().parents[2]
TYPES = {
    "dashboards": Dashboard,
    "jobs": Job,
    "pipelines": Pipeline,
    "schemas": Schema,
    "secret_scopes": SecretScope,
    "volumes": Volume,
}
USER = "ann.lee@example.com"


def resolved(target: str) -> Bundle:
    return load(ROOT, target, user=USER, environ={})


@pytest.fixture(params=["dev", "prod"])
def bundle(request: pytest.FixtureRequest) -> Bundle:
    return resolved(request.param)


def scalars(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for child in value.values():
            yield from scalars(child)
    elif isinstance(value, list):
        for child in value:
            yield from scalars(child)
    else:
        yield str(value)


def test_every_resource_passes_the_typed_classes_of_the_platform(bundle: Bundle) -> None:
    seen = 0
    for kind, named in bundle.config["resources"].items():
        for key, resource in named.items():
            assert TYPES[kind].from_dict(resource) is not None, key
            # What the class does not know it would drop: nothing may be lost on the way through it.
            assert TYPES[kind].from_dict(resource).as_dict().keys() >= resource.keys(), key
            seen += 1
    assert seen >= 5


def test_it_breaks_no_rule(bundle: Bundle) -> None:
    assert findings(bundle) == ()


def test_jobs_pass_the_dataclasses_of_the_sdk(bundle: Bundle) -> None:
    for job in bundle.jobs.values():
        settings = JobSettings.from_dict(job)
        assert {task.task_key for task in settings.tasks or ()} == {task["task_key"] for task in job["tasks"]}
        # What the class does not know it would drop.
        assert settings.as_dict().keys() >= job.keys() - {"permissions"}
    for pipeline in bundle.pipelines.values():
        known = PipelineSpec.from_dict(pipeline).as_dict().keys()
        assert known >= pipeline.keys() - {"permissions", "run_as", "lifecycle", "tags", "development"}


def test_what_cannot_be_had_again_is_not_destroyed_in_prod() -> None:
    bundle = resolved("prod")
    for kind in ("pipelines", "schemas", "volumes", "secret_scopes"):
        for resource in bundle.resources(kind).values():
            assert resource["lifecycle"] == {"prevent_destroy": True}
    assert bundle.config["bundle"]["deployment"] == {"fail_on_active_runs": True}


def test_no_secret_is_written_down_and_no_group_may_read_any(bundle: Bundle) -> None:
    assert "permissions" not in bundle.config
    for scope in bundle.secret_scopes.values():
        assert [each for each in scope.get("permissions") or () if "group_name" in each] == []
    words = re.compile(r"(password|token|secret)\s*[:=]\s*\S", re.IGNORECASE)
    for file in [ROOT / "databricks.yml", *(ROOT / "resources").glob("*.yml")]:
        assert not words.search(file.read_text()), file.name


def test_the_wheel_holds_the_bundle_s_code_alone() -> None:
    (distribution,) = resolved("dev").distributions().values()
    assert {name.partition(".")[0] for name in distribution.entry_points.values()} == {"wearables"}


def test_no_reference_is_left(bundle: Bundle) -> None:
    assert [text for text in scalars(bundle.config) if "${" in text] == []


def test_each_file_holds_one_resource_and_none_names_a_host() -> None:
    from lakeward.bundle.configuration.yaml_reader import parse

    files = sorted((ROOT / "resources").glob("*.yml"))
    assert len(files) >= 5
    for file in files:
        resources = parse(file.read_text(), file.name).children["resources"].children
        assert [len(named.children) for named in resources.values()] == [1], file.name
    for file in [ROOT / "databricks.yml", *files]:
        assert not re.search(r"^\s*(host|profile)\s*:", file.read_text(), re.MULTILINE), file.name


def test_the_default_target_is_dev_in_mode_development() -> None:
    bundle = load(ROOT, user=USER, environ={})
    assert (bundle.target, bundle.mode) == ("dev", "development")
    assert resolved("prod").mode == "production"


def test_dev_schedules_are_paused_and_prod_schedules_are_not() -> None:
    for target, status in (("dev", "PAUSED"), ("prod", "UNPAUSED")):
        timers = [
            job[k] for job in resolved(target).jobs.values() for k in ("schedule", "trigger") if k in job
        ]
        assert timers
        assert {timer["pause_status"] for timer in timers} == {status}


def test_every_prod_job_has_identity_limits_queue_and_notifications() -> None:
    bundle = resolved("prod")
    for job in bundle.jobs.values():
        assert job["run_as"] == {"service_principal_name": "00000000-0000-0000-0000-000000000000"}
        assert job["timeout_seconds"] > 0
        assert job["queue"] == {"enabled": True}
        assert job["max_concurrent_runs"] == 1
        assert job["email_notifications"]["on_failure"]
        assert job["health"]["rules"]
    for pipeline in bundle.pipelines.values():
        assert pipeline["run_as"]
        assert pipeline["development"] is False
        assert pipeline["notifications"][0]["email_recipients"]


def test_no_human_name_is_in_prod() -> None:
    config = resolved("prod").config
    del config["workspace"]["current_user"]
    assert [text for text in scalars(config) if "ann" in re.split(r"[^a-z]+", text.lower())] == []
    assert config["workspace"]["root_path"].startswith("/Workspace/Users/00000000-")


def _names(bundle: Bundle) -> set[str]:
    volumes = {f"{v['catalog_name']}.{v['schema_name']}.{v['name']}" for v in bundle.volumes.values()}
    schemas = {f"{s['catalog_name']}.{s['name']}" for s in bundle.schemas.values()}
    named = [*bundle.jobs.values(), *bundle.pipelines.values(), *bundle.secret_scopes.values()]
    return volumes | schemas | {resource["name"] for resource in named}


def test_dev_and_prod_share_no_name_path_or_scope_and_neither_do_two_developers() -> None:
    dev, prod = resolved("dev"), resolved("prod")
    other = load(ROOT, "dev", user="bob@example.com", environ={})
    for one, two in ((dev, prod), (dev, other)):
        assert _names(one).isdisjoint(_names(two))
        paths = [{p for p in scalars(b.config["workspace"]) if p.startswith("/")} for b in (one, two)]
        assert paths[0]
        assert paths[0].isdisjoint(paths[1])
        volumes = [
            {t for t in scalars(b.config["resources"]) if t.startswith("/Volumes")} for b in (one, two)
        ]
        assert volumes[0].isdisjoint(volumes[1])


def test_dev_and_prod_stay_apart_even_in_one_catalog() -> None:
    one, two = (load(ROOT, t, {"catalog": "main"}, user=USER, environ={}) for t in ("dev", "prod"))
    assert _names(one).isdisjoint(_names(two))


def test_no_literal_secret_is_in_the_files() -> None:
    suspicious = re.compile(
        r"(password|token|secret_value|string_value|api_key)\s*:|dapi[0-9a-f]{8}", re.IGNORECASE
    )
    for file in [ROOT / "databricks.yml", *(ROOT / "resources").glob("*.yml")]:
        assert not suspicious.search(file.read_text()), file.name


def test_scope_names_are_valid_and_carry_the_target(bundle: Bundle) -> None:
    for scope in bundle.secret_scopes.values():
        assert re.fullmatch(r"[A-Za-z0-9_@.-]{1,128}", scope["name"])
        assert bundle.target in scope["name"]


def test_every_python_task_has_an_environment_with_the_wheel(bundle: Bundle) -> None:
    for job in bundle.jobs.values():
        wheels = {e["environment_key"]: e["spec"]["dependencies"] for e in job["environments"]}
        for task in job["tasks"]:
            if "python_wheel_task" in task:
                assert wheels[task["environment_key"]] == ["./packaging/wearables/dist/*.whl"]
        assert {e["spec"]["environment_version"] for e in job["environments"]} == {"4"}


def test_what_is_not_the_lakehouse_stays_out_of_the_workspace(bundle: Bundle) -> None:
    assert {"tests/**", "fixtures/**", "benchmarks/**", "src/lakeward/**"} <= set(
        bundle.config["sync"]["exclude"]
    )


def test_the_daily_job_lands_refreshes_and_checks_one_lakehouse(bundle: Bundle) -> None:
    tasks = {task["task_key"]: task for task in bundle.job("daily")["tasks"]}
    depends = {key: [each["task_key"] for each in task.get("depends_on", [])] for key, task in tasks.items()}
    assert depends == {
        "land": [],
        "keys": [],
        "refresh": ["land", "keys"],
        "protect": ["refresh"],
        "check": ["refresh"],
        "publish": ["check"],
    }
    land, refresh, check = (tasks[key] for key in ("land", "refresh", "check"))
    pipeline = bundle.pipeline("wearables")
    assert bundle.key_of("pipelines", refresh["pipeline_task"]["pipeline_id"]) == "wearables"
    landing = land["python_wheel_task"]["named_parameters"]["landing"]
    assert pipeline["configuration"]["wearables.landing"] == landing
    assert landing == f"/Volumes/{pipeline['catalog']}/{pipeline['schema']}/landing"
    parameters = check["python_wheel_task"]["parameters"]
    schema = ["--catalog", pipeline["catalog"], "--schema", pipeline["schema"]]
    assert parameters == [*schema, "--days", "7"]
    # The weekly check takes all days.
    (weekly,) = (each for each in bundle.job("maintenance")["tasks"] if each["task_key"] == "check")
    assert weekly["python_wheel_task"]["parameters"] == schema
