"""Catalogs that a project of dbt writes to, by its files: on the platform they exist before dbt runs.

Sources: https://docs.getdbt.com/reference/resource-configs/database and
https://docs.getdbt.com/reference/model-properties
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lakeward.dbt.project import DbtProject
from lakeward.dbt.variables import with_variables
from lakeward.dbt.yaml_files import read_mapping

# Kinds of resources, and where their files are by default.
_PATHS = {"model-paths": "models", "seed-paths": "seeds", "snapshot-paths": "snapshots"}
_RESOURCES = ("models", "seeds", "snapshots", "data_tests", "tests")
_FIELDS = ("database", "catalog", "target_database")
_CONFIG = re.compile(r"\bconfig\s*\(")
_ARGUMENT = re.compile(
    r"""\b(?:database|catalog|target_database)["']?\s*[=:]\s*"""
    r"""(?:(?P<quote>["'])(?P<name>[^"']*)(?P=quote)|(?P<call>(?:env_)?var\([^()]*\)(?:\s*\|\s*\w+)*))"""
)


def declared_catalogs(project: DbtProject, given: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """Return the catalogs that `dbt_project.yml`, properties and `config(…)` name for resources.

    Expressions of Jinja are left out, but for those of variables.

    Args:
        project: The project.
        given: The variables of the option `--vars`.
    """
    stated = (
        with_variables(name, os.environ, given)
        for source in (_of_project(project.content), _of_files(project))
        for name in source
    )
    return tuple(dict.fromkeys(name for name in stated if name and "{" not in name))


def _of_project(content: Mapping[str, Any]) -> Iterator[str]:
    for kind in _RESOURCES:
        yield from _nested(content.get(kind))


def _nested(settings: object) -> Iterator[str]:
    """Yield the catalogs in the settings of a kind of resources, which are nested by folders."""
    if isinstance(settings, dict):
        for key, value in settings.items():
            if str(key).removeprefix("+") in _FIELDS and isinstance(value, str):
                yield value
            else:
                yield from _nested(value)


def _of_files(project: DbtProject) -> Iterator[str]:
    for key, default in _PATHS.items():
        folders = project.content.get(key) or [default]
        for folder in folders if isinstance(folders, list) else [folders]:
            for file in sorted((project.folder / str(folder)).rglob("*")):
                if file.suffix in (".yml", ".yaml"):
                    yield from _of_properties(file)
                elif file.suffix in (".sql", ".py"):
                    yield from _of_calls(file)


def _of_properties(file: Path) -> Iterator[str]:
    content = read_mapping(file)
    for kind in _RESOURCES:
        for each in content.get(kind) or ():
            yield from _nested(each.get("config") if isinstance(each, dict) else None)


def _of_calls(file: Path) -> Iterator[str]:
    """Yield the catalogs in the arguments of `config(…)` in a model or a snapshot."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return
    for call in _CONFIG.finditer(text):
        for argument in _ARGUMENT.finditer(_inside(text[call.end() :])):
            yield argument["name"] or (f"{{{{ {argument['call']} }}}}" if argument["call"] else "")


def _inside(text: str) -> str:
    """Return the text up to the parenthesis that closes the one before it."""
    depth = 1
    for at, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if not depth:
            return text[:at]
    return text
