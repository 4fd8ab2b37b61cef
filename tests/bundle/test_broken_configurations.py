"""Bundles with wrong values, keys and items in all places: an error or a warning, no crash."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.trees import write_files

from lakeward.cli import failures, main

BUNDLE = """
bundle: {name: shop}
include: [resources/*.yml]
variables:
  catalog: {default: main, description: Where tables are.}
  cluster: {type: complex, default: {num_workers: 1}}
permissions: [{level: CAN_VIEW, group_name: users}]
presets: {name_prefix: "x_", tags: {team: shop}, trigger_pause_status: PAUSED}
run_as: {user_name: ann@example.com}
sync: {include: ["*.py"], exclude: ["tmp/**"], paths: ["."]}
workspace: {host: "https://example.com"}
artifacts: {wheel: {type: whl, path: ., build: "true"}}
targets:
  dev: {mode: development, default: true, variables: {catalog: dev}}
  prod: {mode: production, presets: {tags: {env: prod}}, workspace: {root_path: /Workspace/prod}}
"""
RESOURCES = """
resources:
  jobs:
    daily:
      name: daily
      parameters: [{name: day, default: "2024-01-01"}]
      schedule: {quartz_cron_expression: "0 0 5 * * ?", timezone_id: UTC}
      permissions: [{level: CAN_MANAGE, user_name: ann@example.com}]
      email_notifications: {on_failure: [ann@example.com]}
      environments: [{environment_key: e, spec: {client: "4", dependencies: [requests]}}]
      job_clusters: [{job_cluster_key: c, new_cluster: {num_workers: 1, spark_version: 16.4.x-scala2.12}}]
      tasks:
        - task_key: load
          notebook_task: {notebook_path: ../load.py, base_parameters: {a: b}}
          job_cluster_key: c
        - task_key: build
          depends_on: [{task_key: load, outcome: "true"}]
          run_if: ALL_DONE
          pipeline_task: {pipeline_id: "${resources.pipelines.p.id}"}
        - task_key: py
          spark_python_task: {python_file: ../load.py}
          environment_key: e
          libraries: [{whl: ./x.whl}]
        - {task_key: if, condition_task: {op: EQUAL_TO, left: "1", right: "{{job.parameters.day}}"}}
        - task_key: each
          for_each_task: {inputs: "[1]", task: {task_key: one, notebook_task: {notebook_path: ../load.py}}}
        - {task_key: sql, sql_task: {file: {path: ../q.sql}, warehouse_id: w}}
  pipelines:
    p:
      name: p
      catalog: ${var.catalog}
      schema: shop
      configuration: {a: b}
      libraries: [{file: {path: ../p.py}}, {glob: {include: ../p/**}}]
      notifications: [{email_recipients: [ann@example.com], alerts: [on-update-failure]}]
      clusters: [{label: default, num_workers: 1}]
  schemas: {s: {name: s, catalog_name: main, grants: [{principal: users, privileges: [SELECT]}]}}
  volumes: {v: {name: v, catalog_name: main, schema_name: s}}
  secret_scopes: {k: {name: k, permissions: [{level: READ, user_name: ann@example.com}]}}
"""
VALUES: list[Any] = [
    None, "", 0, -1, 1.5, True, "x", "${var.nope}", "${", "/", "..", [], {}, [None], {"a": None}, [[]], [{}],
    {"x": "y"}, ["a", "b"], {1: 2}, 10**30, "é\n", "${resources.jobs.daily.id}", "*.py", "~",
]  # fmt: skip
COMMANDS = (["bundle", "validate"], ["bundle", "summary"], ["check", "."], ["run", "nope"])


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values in a document."""
    entries = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, child in entries:
        yield (*path, key)
        yield from places(child, (*path, key))


def change(document: Any, path: tuple[Any, ...], action: str, value: Any) -> None:
    *above, key = path
    parent = document
    for step in above:
        parent = parent[step]
    if action == "set":
        parent[key] = value
    elif action == "wrap":
        parent[key] = [parent[key]]
    elif action == "name":
        parent[key] = {"name": parent[key]}
    elif action == "remove" or not isinstance(parent, dict):
        del parent[key]
    else:
        parent[f"{key}s"] = parent.pop(key)


FILES = {"databricks.yml": yaml.safe_load(BUNDLE), "resources/all.yml": yaml.safe_load(RESOURCES)}
CHANGES = st.sampled_from([(name, path) for name, document in FILES.items() for path in places(document)])
ACTIONS = st.sampled_from(["set", "set", "set", "wrap", "name", "remove", "rename"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(
        tmp_path, {"load.py": "# Databricks notebook source\n1\n", "p.py": "1\n", "q.sql": "SELECT 1\n"}
    )
    (tmp_path / "resources").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAKEWARD_NO_ENVIRONMENT", "1")

    def crash_log(error: BaseException) -> str:
        raise AssertionError("an internal error") from error

    monkeypatch.setattr(failures, "crash_log", crash_log)
    return tmp_path


@given(place=CHANGES, action=ACTIONS, value=st.sampled_from(VALUES))
@example(place=("databricks.yml", ("artifacts", "wheel")), action="set", value=None)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_broken_bundle_is_an_error_or_a_warning(
    folder: Path, place: tuple[str, tuple[Any, ...]], action: str, value: Any
) -> None:
    documents = copy.deepcopy(FILES)
    change(documents[place[0]], place[1], action, copy.deepcopy(value))
    for name, document in documents.items():
        (folder / name).write_text(yaml.safe_dump(document, allow_unicode=True))
    for command in COMMANDS:
        assert main(command) in (0, 1, 2)


def test_the_bundle_itself_is_valid(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, document in FILES.items():
        (folder / name).write_text(yaml.safe_dump(document))
    (folder / "p").mkdir()
    assert main(["bundle", "summary"]) == 0, capsys.readouterr().err
