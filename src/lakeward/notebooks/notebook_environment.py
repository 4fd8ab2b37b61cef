"""The environment that a notebook declares for serverless compute: packages to install before its first cell.

Source: https://docs.databricks.com/aws/en/compute/serverless/dependencies
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from lakeward.toml_parser import tomllib

CELL = "environment"
"""The magic of the cell that older exports of notebooks keep the environment in."""

# The comment of PEP 723, which newer exports begin with.
_SCRIPT = re.compile(
    r"^(?:#|--) /// script$\n(?P<lines>(?:^(?:#|--)(?: .*)?$\n)+?)^(?:#|--) ///$", re.MULTILINE
)
_COMMENT = re.compile(r"^(?:#|--) ?", re.MULTILINE)
_FOLDER = re.compile(r"(?:(?:-e|--editable)[= ]\s*)?(?P<path>[./].*)")


def dependencies_of_script(text: str) -> tuple[str, ...]:
    """Return the dependencies in the `# /// script` comment of a source file.

    >>> dependencies_of_script('''# Databricks notebook source
    ... # /// script
    ... # [tool.databricks.environment]
    ... # dependencies = ["tiny==1.0"]
    ... # ///
    ... ''')
    ('tiny==1.0',)
    """
    found = _SCRIPT.search(text)
    if found is None:
        return ()
    try:
        content = tomllib.loads(_COMMENT.sub("", found["lines"]))
    except tomllib.TOMLDecodeError:
        return ()
    return _dependencies(_mapping(_mapping(_mapping(content, "tool"), "databricks"), "environment"))


def dependencies_of_cell(source: str) -> tuple[str, ...]:
    """Return the dependencies in an `%environment` cell.

    >>> dependencies_of_cell('"client": "1"\\n"dependencies":\\n  - "tiny==1.0"')
    ('tiny==1.0',)
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return _dependencies(YAML(typ="safe", pure=True).load(source))
    except YAMLError:
        return ()


def dependencies_of_metadata(about: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the dependencies in the metadata of an `.ipynb`."""
    return _dependencies(
        _mapping(_mapping(about, "application/vnd.databricks.v1+notebook"), "environmentMetadata")
    )


def install_commands(dependencies: Iterable[str]) -> str:
    """Return dependencies, which are lines of a requirements file, as lines of `%pip`.

    >>> install_commands(["-r ./needs.txt", "tiny; python_version > '3'"])
    'install -r ./needs.txt\\ninstall \\'tiny; python_version > \\'"\\'"\\'3\\'"\\'"\\'\\''
    """
    return "\n".join(
        f"install {line if line.startswith('-') else shlex.quote(line)}" for line in dependencies
    )


def own_projects(
    dependencies: Iterable[str], file: Path, local: Callable[[str], str]
) -> tuple[list[str], list[Path]]:
    """Return the dependencies but for projects that the notebook is part of, and the folders of their code.

    Such a project is imported from its sources: the environment of the command has its requirements.

    Args:
        dependencies: Lines of a requirements file.
        file: The notebook.
        local: Gives the local path for one of the workspace (`/Workspace/…`).
    """
    others: list[str] = []
    folders: list[Path] = []
    for line in dependencies:
        found = _FOLDER.fullmatch(line.strip())
        project = (file.parent / local(found["path"])).resolve() if found is not None else None
        if project is None or not project.is_dir() or not file.resolve().is_relative_to(project):
            others.append(line)
            continue
        sources = project / "src"
        folders += [sources, project] if sources.is_dir() else [project]
    return others, folders


def _dependencies(environment: Any) -> tuple[str, ...]:
    lines = environment.get("dependencies") if isinstance(environment, Mapping) else None
    return tuple(each for each in lines if isinstance(each, str)) if isinstance(lines, list) else ()


def _mapping(content: Any, key: str) -> Mapping[str, Any]:
    found = content.get(key) if isinstance(content, Mapping) else None
    return found if isinstance(found, Mapping) else {}
