"""Paths of the bundle's folders in the workspace have the prefix `/Workspace` once, in any spelling."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakeward.bundle import Bundle, findings

FOLDERS = ("root_path", "file_path", "artifact_path", "state_path", "resource_path")
USER = "/Workspace/Users/Ann.Lee@example.com"
SPELLINGS = {
    "/Shared/b": "/Workspace/Shared/b",
    "/Users/${workspace.current_user.userName}/b": f"{USER}/b",
    "/Workspace/Shared/b": "/Workspace/Shared/b",
    "/WorkspaceOfAnn/b": "/Workspace/WorkspaceOfAnn/b",
    "/Volumes/c/s/v": "/Volumes/c/s/v",
}


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("section", ["workspace", "targets"])
@pytest.mark.parametrize(("written", "path"), SPELLINGS.items())
def test_folders_are_prefixed(
    bundle_of: Callable[..., Bundle], folder: str, section: str, written: str, path: str
) -> None:
    setting = f'workspace: {{{folder}: "{written}"}}'
    text = setting if section == "workspace" else f"targets: {{dev: {{{setting}}}}}"
    workspace = bundle_of(f"bundle: {{name: b}}\n{text}\n").config["workspace"]
    assert workspace[folder] == path
    if folder == "root_path":
        assert [workspace[each] for each in FOLDERS[1:]] == [
            f"{path}/{name}" for name in ("files", "artifacts", "state", "resources")
        ]


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("prefix", ["", "/Workspace", "/Workspace/"])
@pytest.mark.parametrize("where", ["parameter", "variable", "configuration"])
def test_references_to_folders_have_one_prefix(
    bundle_of: Callable[..., Bundle], folder: str, prefix: str, where: str
) -> None:
    reference = f"file:{prefix}${{workspace.{folder}}}/x"
    bundle = bundle_of(f"""
    bundle: {{name: b}}
    workspace: {{root_path: /Shared/b}}
    variables: {{v: {{default: "{reference if where == "variable" else "-"}"}}}}
    resources:
      jobs:
        j:
          tasks:
            - task_key: a
              spark_python_task:
                python_file: a.py
                parameters: ["{reference if where == "parameter" else "-"}", "${{var.v}}"]
      pipelines: {{p: {{name: p, configuration: {{k: "{reference if where == "configuration" else "-"}"}}}}}}
    """)
    found = [
        *bundle.jobs["j"]["tasks"][0]["spark_python_task"]["parameters"],
        bundle.pipelines["p"]["configuration"]["k"],
    ]
    expected = f"file:{bundle.config['workspace'][folder]}/x"
    assert sorted(found) == ["-", "-", expected]
    assert expected.startswith("file:/Workspace/Shared/b")
    warnings = [each for each in findings(bundle) if each.rule == "workspace-prefix"]
    assert [each.message for each in warnings] == (
        [f"`{prefix}${{workspace.{folder}}}` has a prefix that ${{workspace.{folder}}} has already."]
        if prefix
        else []
    )
