from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest
from tests.trees import write_files

from lakeward import jobs
from lakeward.bundle import Bundle, load
from lakeward.jobs import JobRun, PipelineSelection, RunListeners, RunOptions
from lakeward.session import Settings

PYPROJECT = """
[project]
name = "tool"
version = "1"
[project.scripts]
show = "tool.show:main"
"""


def provision_nothing(bundle: Bundle, settings: Settings) -> None:
    """Plain Python tasks need neither schemas nor a Spark session."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.here(tmp_path, environ={}, target="dev")


@pytest.fixture
def job_of(tmp_path: Path) -> Callable[..., Bundle]:
    """Write a bundle whose job `j` is the given YAML, with these files next to it, and load it."""

    def make(job: str, files: Mapping[str, str] = {}) -> Bundle:
        root = (
            "bundle: {name: b}\nartifacts: {tool: {type: whl, path: .}}\ntargets: {dev: {}}\n"
            "resources:\n  jobs:\n    j:\n" + indent(dedent(job), " " * 6)
        )
        write_files(tmp_path, {"databricks.yml": root, "pyproject.toml": PYPROJECT, **files})
        return load(tmp_path, user="ann", environ={})

    return make


@pytest.fixture
def run_job(job_of: Callable[..., Bundle], settings: Settings) -> Callable[..., JobRun]:
    """Run job `j` of such a bundle without Spark."""

    def run(job: str, files: Mapping[str, str] = {}, **options: Any) -> JobRun:
        options = {"provision": provision_nothing, **options}
        names = {field.name for field in fields(RunListeners)}
        listeners = {name: options.pop(name) for name in names & options.keys()}
        selection = PipelineSelection(dry_run=options.pop("dry_run", False))
        return jobs.run(
            job_of(job, files),
            "j",
            settings=settings,
            options=RunOptions(selection=selection, **options),
            listeners=RunListeners(**listeners),
        )

    return run
