"""A deployed pipeline has the state folder of `lakeward run`, also when another user serves the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.session import Settings
from lakeward.workspace.runs.run_spec import state_names
from tests.trees import write_files

BUNDLE = """
bundle: {name: shop}
targets: {dev: {mode: development, default: true}}
resources:
  pipelines:
    sales: {name: sales, catalog: main, schema: shop, libraries: [{file: {path: sales.py}}]}
"""


def deployed(identifier: str, user: str) -> dict[str, object]:
    return {"pipeline_id": identifier, "spec": {"name": f"[dev {user}] sales"}}


def test_a_pipeline_keeps_its_state_when_another_user_serves_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"databricks.yml": BUNDLE, "sales.py": ""})
    settings = Settings.here(tmp_path, environ={}, target="dev")
    pipelines = [deployed("1", "ada"), deployed("2", "bob")]

    def served_by(user: str) -> dict[str, str]:
        monkeypatch.setenv("USER", user)
        return state_names(settings, pipelines)

    assert served_by("ada") == {"1": "sales", "2": "2"}
    write_files(settings.pipelines, {"sales/name.txt": "[dev ada] sales"})
    assert served_by("root")["1"] == "sales"
    assert served_by("ada") == {"1": "sales", "2": "2"}
