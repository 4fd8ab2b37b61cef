"""A repository: where it begins, what it is as a package, and whether it has tests."""

from __future__ import annotations

import configparser
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from glob import glob
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from lakeward.environments.sources.reading import read_toml

_MARKS = (
    *("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "databricks.yml"),
    *("environment.yml", "environment.yaml"),
)
_NOT_LOOKED_INTO = {"node_modules", "venv", "__pycache__", "site-packages", "build", "dist"}
# Tables of pyproject.toml that decide how the package is built.
_BUILD_TOOLS = ("flit", "hatch", "maturin", "pdm", "poetry", "setuptools", "setuptools_scm", "uv")

_IMPORTS_DLT = re.compile(r"\b(?:import\s+dlt\b|from\s+dlt\b)")
_LOADING_DLT = re.compile(
    r"\bdlt\.(?:pipeline|source|resource|transformer|destination|secrets|config)\b"
    r"|\bfrom\s+dlt(?:\.|\s+import\s+(?:pipeline|source|resource)\b)|\bimport\s+dlt\."
)
_PIPELINE_DLT = re.compile(
    r"\bdlt\.(?:table|view|expect\w*|read|read_stream|create_\w+|apply_changes\w*|append_flow)\b"
    r"|\bfrom\s+dlt\s+import\b"
)


def repository_root(folder: Path) -> Path:
    """Return the nearest folder at or above `folder` with a project file, up to the Git repository's root."""
    for candidate in (folder, *folder.parents):
        if any((candidate / mark).is_file() for mark in _MARKS):
            return candidate
        if (candidate / ".git").exists():
            return candidate
    return folder


def projects_below(root: Path) -> tuple[Path, ...]:
    """Return the folders with tests below a `root` that has no project file: each has packages of its own."""
    if any((root / mark).is_file() for mark in _MARKS):
        return ()
    marked = dict.fromkeys(Path(folder) for folder, name in _walk(root) if name in _MARKS)
    outer = [each for each in marked if not any(parent in marked for parent in each.parents)]
    return tuple(sorted(each for each in outer if has_tests(each)))


def python_release(root: Path) -> SpecifierSet | None:
    """Return the feature release in `.python-version`, which uv and pyenv follow; None without one."""
    file = root / ".python-version"
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    found = re.search(r"^(?:cpython[-@])?(3\.\d+)", text, re.MULTILINE)
    return SpecifierSet(f"=={found.group(1)}.*") if found else None


def is_package(root: Path) -> bool:
    """Return whether the repository is installed as a package: what its own tool would do."""
    content = read_toml(root / "pyproject.toml")
    tool = content.get("tool") or {}
    if (tool.get("uv") or {}).get("package") is False or (tool.get("poetry") or {}).get(
        "package-mode"
    ) is False:
        return False
    named = bool((content.get("project") or {}).get("name") or (tool.get("poetry") or {}).get("name"))
    return (named and "build-system" in content) or (root / "setup.py").is_file()


def package_digest(root: Path) -> str:
    """Return a digest that changes when the package must be reinstalled."""
    content = read_toml(root / "pyproject.toml")
    tool = content.get("tool") or {}
    parts = {
        **{key: content.get(key) for key in ("project", "build-system")},
        **{key: tool.get(key) for key in _BUILD_TOOLS},
    }
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode())
    for name in ("setup.py", "setup.cfg"):
        if (root / name).is_file():
            digest.update((root / name).read_bytes())
    return digest.hexdigest()


def source_folders(root: Path) -> tuple[Path, ...]:
    """Return the folders that Python must know where the package cannot be installed."""
    return tuple(folder for folder in (root / "src", root) if folder.is_dir())


def has_tests(root: Path) -> bool:
    """Return whether pytest collects anything below `root`, by its own settings of names and folders."""
    settings = pytest_settings(root)
    patterns = _words(settings.get("python_files")) or ["test_*.py", "*_test.py"]
    # pytest expands patterns, and looks everywhere if no such folder exists. Path.glob refuses ".".
    places = [
        root / place
        for pattern in _words(settings.get("testpaths"))
        for place in glob(pattern, root_dir=root, recursive=True)  # noqa: PTH207
    ] or [root]
    doctests = "--doctest" in str(settings.get("addopts"))
    files = (name for place in places for name in _files(place))
    return any(
        any(fnmatch(name, pattern.rpartition("/")[2]) for pattern in patterns)
        or (doctests and name.endswith((".py", ".txt", ".md")))
        for name in files
    )


def has_pipelines_of_dlt(root: Path) -> bool:
    """Return whether the `dlt` that the code below `root` imports is that of pipelines.

    PyPI's package of this name, which loads data, has other functions.
    """
    texts = [(root / file).read_text(encoding="utf-8", errors="replace") for file in code_files(root)]
    importing = [text for text in texts if _IMPORTS_DLT.search(text)]
    loads = any(_LOADING_DLT.search(text) for text in importing)
    return not loads and any(_PIPELINE_DLT.search(text) for text in importing)


def code_files(root: Path) -> Iterator[Path]:
    """Yield the Python files and notebooks below `root`, relative to it."""
    for folder, name in _walk(root):
        if name.endswith((".py", ".ipynb")):
            yield (Path(folder) / name).relative_to(root)


def is_repository(root: Path) -> bool:
    """Return whether a folder has a project file, or is the root of a Git repository."""
    return (root / ".git").exists() or any((root / mark).is_file() for mark in _MARKS)


def _files(place: Path) -> Iterator[str]:
    if place.is_file():
        yield place.name
    yield from (name for _, name in _walk(place))


def _walk(place: Path) -> Iterator[tuple[str, str]]:
    for folder, folders, files in os.walk(place):
        folders[:] = [each for each in folders if each not in _NOT_LOOKED_INTO and not each.startswith(".")]
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        yield from ((folder, name) for name in files)


def pytest_settings(root: Path) -> Mapping[str, Any]:
    """Return the settings of the first file that has any, in pytest's order."""
    for name, section in (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest")):
        if (found := _ini(root / name, section)) is not None:
            return found
    tool = (read_toml(root / "pyproject.toml").get("tool") or {}).get("pytest") or {}
    return tool.get("ini_options") or tool or _ini(root / "setup.cfg", "tool:pytest") or {}


def _ini(file: Path, section: str) -> Mapping[str, Any] | None:
    parser = configparser.RawConfigParser()
    try:
        parser.read(file, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        # pytest reports the error.
        return None
    return dict(parser[section]) if parser.has_section(section) else None


def _words(value: object) -> list[str]:
    return value.split() if isinstance(value, str) else [str(each) for each in value or ()]  # type: ignore[attr-defined]
