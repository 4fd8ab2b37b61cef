"""Versions of packages that take theirs from Git tags, in folders that are no Git repositories.

A downloaded archive of a repository has no tags: the build of such a package would end with an error. Build
tools take the version from a variable instead. Source: https://setuptools-scm.readthedocs.io/en/latest/overrides/
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lakeward.toml_parser import tomllib

_VERSION = "0.0.0"
_HISTORY = (".git", ".hg", ".jj")
_SETUPTOOLS = "SETUPTOOLS_SCM_PRETEND_VERSION"
# A build backend has no name of the package in its variable: it holds for all that is built with it.
_BY_BACKEND = {
    "hatch-vcs": _SETUPTOOLS,
    "pbr": "PBR_VERSION",
    "pdm": "PDM_BUILD_SCM_VERSION",
    "poetry-dynamic-versioning": "POETRY_DYNAMIC_VERSIONING_BYPASS",
    "uv-dynamic-versioning": "UV_DYNAMIC_VERSIONING_BYPASS",
}


def version_variables(projects: Iterable[Path], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that give packages without history a version, without those of `environ`."""
    names = {name for project in projects if not _has_history(project) for name in _variables(project)}
    return {name: _VERSION for name in sorted(names) if name not in environ}


def local_projects(requirements: Path) -> Iterator[Path]:
    """Yield the folders that the lines of a requirements file install.

    Args:
        requirements: a file as the installer reads it: its paths are absolute, editable or not.
    """
    for line in requirements.read_text(encoding="utf-8").splitlines():
        text = re.sub(r"^(-e|--editable)[= ]\s*", "", line.strip()).removeprefix("file://").partition("[")[0]
        folder = Path(unquote(text).strip())
        if folder.is_absolute() and folder.is_dir():
            yield folder


def _has_history(project: Path) -> bool:
    # The PKG-INFO of a source distribution holds the version.
    inside = (project / "PKG-INFO", project / ".git_archival.txt")
    folders = (project, *project.parents)
    return any(file.exists() for file in inside) or any(
        (folder / name).exists() for folder in folders for name in _HISTORY
    )


def _variables(project: Path) -> Iterator[str]:
    content = _pyproject(project)
    requires = " ".join(map(str, (content.get("build-system") or {}).get("requires") or ())).lower()
    yield from (variable for backend, variable in _BY_BACKEND.items() if backend in requires)
    name = _package_name(project, content)
    if name:
        yield f"{_SETUPTOOLS}_FOR_{re.sub(r'[-_.]+', '_', name).upper()}"


def _pyproject(project: Path) -> Mapping[str, Any]:
    file = project / "pyproject.toml"
    try:
        return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        # The build reports the error.
        return {}


def _package_name(project: Path, content: Mapping[str, Any]) -> str:
    table = content.get("project")
    if isinstance(table, dict) and table.get("name"):
        return str(table["name"])
    parser = configparser.RawConfigParser()
    try:
        parser.read(project / "setup.cfg", encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        # setuptools reports the error.
        return ""
    if parser.has_option("metadata", "name"):
        return parser.get("metadata", "name")
    setup = project / "setup.py"
    text = setup.read_text(encoding="utf-8", errors="replace") if setup.is_file() else ""
    found = re.search(r"""\bname\s*=\s*["']([\w.-]+)["']""", text)
    return found[1] if found else ""
