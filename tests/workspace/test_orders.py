"""Specifications of runs: the pipelines that their tasks may update, under the names of their state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeward import jobs
from lakeward.session import Settings
from lakeward.workspace.runs.deployed_bundle import bundle_of
from lakeward.workspace.runs.run_spec import build_job_run_spec, build_pipeline_update_spec
from lakeward.workspace.runs.run_state import new_run
from lakeward.workspace.state.store import Store

BUNDLE = """
bundle: {name: story}
resources: {pipelines: {own: {name: silver, libraries: [{file: {path: p.py}}]}}}
targets: {dev: {}}
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "databricks.yml").write_text(BUNDLE)
    return Settings.here(tmp_path, environ={}, target="dev")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store.db")
    for identifier, name in (("id-1", "silver"), ("id-2", "gold"), ("id-3", "other")):
        spec = {"name": name, "libraries": [{"file": {"path": "/Workspace/p.py"}}]}
        store.put("pipeline", identifier, {"pipeline_id": identifier, "spec": spec})
    return store


def updates(identifier: str) -> dict[str, Any]:
    return {"task_key": identifier, "pipeline_task": {"pipeline_id": identifier}}


def run_of(job: dict[str, Any], **facts: Any) -> dict[str, Any]:
    return new_run(7, job, numbers=iter(range(100, 200)).__next__, at=1_772_337_906_789, job_id=1, **facts)


def pipelines(store: Store, settings: Settings, *tasks: dict[str, Any]) -> dict[str, str]:
    """The ids of an order's pipelines, by their names."""
    order = build_job_run_spec(store, settings, run_of({"name": "a", "tasks": list(tasks)}))
    assert set(order["pipelines"]) == set(order["ids"]["pipelines"])
    return dict(order["ids"]["pipelines"])


def test_only_the_pipelines_that_tasks_name_go_along(store: Store, settings: Settings) -> None:
    loop = {"task_key": "each", "for_each_task": {"inputs": "[1]", "task": updates("id-2")}}
    assert pipelines(store, settings, updates("id-1"), loop) == {"own": "id-1", "id-2": "id-2"}
    plain = {"task_key": "plain", "spark_python_task": {"python_file": "/Workspace/a.py"}}
    assert pipelines(store, settings, plain) == {}


def test_all_go_along_where_the_run_alone_knows_which(store: Store, settings: Settings) -> None:
    named = pipelines(store, settings, updates("{{job.parameters.pipeline}}"))
    assert named == {"own": "id-1", "id-2": "id-2", "id-3": "id-3"}


def test_the_bundle_is_read_once_for_all_pipelines_and_not_for_none(
    store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lakeward import bundle

    loads, load = [], bundle.load
    monkeypatch.setattr(bundle, "load", lambda *given: loads.append(given) or load(*given))
    pipelines(store, settings, updates("id-1"), updates("id-2"), updates("id-3"))
    assert len(loads) == 1
    pipelines(store, settings)
    assert len(loads) == 1


def test_a_pipeline_of_this_folder_s_bundle_keeps_its_state(store: Store, settings: Settings) -> None:
    pipeline = store.get("pipeline", "id-1")
    assert pipeline is not None
    order = build_pipeline_update_spec(settings, pipeline, {})
    assert list(order["pipelines"]) == ["own"]
    library = order["pipelines"]["own"]["libraries"][0]["file"]["path"]
    assert library == str(settings.workspace / "p.py")


@pytest.mark.parametrize(
    ("cause", "trigger", "at", "location"),
    [
        ("ONE_TIME", "onetime", 1_772_337_906_789, ""),
        ("PERIODIC", "periodic", 1_772_337_900_000, ""),
        ("FILE_ARRIVAL", "file_arrival", 1_772_337_906_789, "/Volumes/c/s/in/"),
    ],
)
def test_tasks_may_ask_what_started_their_run(
    store: Store, settings: Settings, cause: str, trigger: str, at: int, location: str
) -> None:
    job = {
        "name": "a",
        "trigger": {"file_arrival": {"url": "/Volumes/c/s/in/"}},
        "tasks": [{"task_key": "plain", "spark_python_task": {"python_file": "/Workspace/a.py"}}],
    }
    origin = build_job_run_spec(store, settings, run_of(job, trigger=cause), host="http://127.0.0.1:1")[
        "origin"
    ]
    assert (origin["kind"], origin["at"], origin["location"]) == (trigger, at, location)
    assert origin["workspace_url"] == "http://127.0.0.1:1"
    assert origin["task_runs"] == {"plain": "100"}


def test_a_notebook_is_found_by_its_name_in_the_workspace(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    place = settings.workspace / "Users/ada/answer.py"
    place.parent.mkdir(parents=True)
    place.write_text("# Databricks notebook source\n42")
    for path in ("/Workspace/Users/ada/answer", "/Users/ada/answer"):
        task = {"task_key": "a", "notebook_task": {"notebook_path": path}}
        order = build_job_run_spec(store, settings, run_of({"name": "j", "tasks": [task]}))
        bundle = bundle_of(order, settings, tmp_path)
        (key,) = bundle.jobs
        # What cannot be found is reported before anything runs.
        options = jobs.RunOptions(selection=jobs.PipelineSelection(dry_run=True), provision=lambda *_: None)
        run = jobs.run(bundle, key, settings=settings, options=options)
        assert run.state == "COMPLETED"
