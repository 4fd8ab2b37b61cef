"""Python projects, built or not: name, entry points and source folders."""

from __future__ import annotations

import ast
import configparser
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from lakeward.errors import BundleError
from lakeward.toml_parser import tomllib


@dataclass(frozen=True)
class Distribution:
    """A Python project, built or not: name, entry points, folders of its sources, build backend."""

    name: str
    entry_points: Mapping[str, str]
    source_folders: tuple[Path, ...]
    file: Path
    backend: str | None = None

    def is_package(self, name: str) -> bool:
        """Return whether `name` names this project, ignoring case, `-`, `_` and `.` (PEP 503)."""
        return canonicalize_name(name) == canonicalize_name(self.name)


_BACKEND = "setuptools.build_meta:__legacy__"


def read_setuptools_project(folder: Path, backend: str | None) -> Distribution | None:
    """Return the project of setup.cfg and setup.py in `folder`, None without both.

    A name that setup.py computes is taken to be that of the folder.
    """
    script, config = folder / "setup.py", folder / "setup.cfg"
    if not script.is_file() and not config.is_file():
        return None
    declared = {**_read_config(config), **_read_script(script)}
    if not script.is_file() and "name" not in declared:
        return None
    points = dict(_points(declared.get("entry_points")))
    stated = declared.get("package_dir")
    stated = list(stated.values()) if isinstance(stated, Mapping) else []
    candidates = [(folder / str(path)).resolve() for path in [*stated, "src", "."]]
    folders = tuple(dict.fromkeys(path for path in candidates if path.is_dir()))
    name = str(declared.get("name") or folder.resolve().name)
    return Distribution(name, points, folders, script if script.is_file() else config, backend or _BACKEND)


def _read_config(file: Path) -> dict[str, Any]:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(file, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        return {}
    found: dict[str, Any] = {}
    if parser.has_option("metadata", "name"):
        found["name"] = parser.get("metadata", "name")
    if parser.has_section("options.entry_points"):
        found["entry_points"] = dict(parser.items("options.entry_points"))
    if parser.has_option("options", "package_dir"):
        lines = (line.partition("=") for line in parser.get("options", "package_dir").splitlines())
        found["package_dir"] = {key.strip(): value.strip() for key, equals, value in lines if equals}
    return found


def _read_script(file: Path) -> dict[str, Any]:
    """Return the arguments of `setup(…)` that are literals."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return {}
    found: dict[str, Any] = {}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if ast.unparse(call.func).rpartition(".")[2] != "setup":
            continue
        for keyword in call.keywords:
            if keyword.arg is not None:
                with suppress(ValueError):
                    found[keyword.arg] = ast.literal_eval(keyword.value)
    return found


def _points(groups: object) -> Iterator[tuple[str, str]]:
    for lines in groups.values() if isinstance(groups, Mapping) else ():
        for line in lines.splitlines() if isinstance(lines, str) else lines:
            name, equals, value = str(line).partition("=")
            if equals:
                yield name.strip(), value.strip()


def read_wheel(file: Path) -> Distribution:
    """Return the project that was built as `file`; its modules can be imported from the file itself.

    Contains the entry points of all groups; empty for a file that is not a wheel.
    """
    points = {
        point.name: point.value for found in distributions(path=[str(file)]) for point in found.entry_points
    }
    return Distribution(file.name.split("-")[0], points, (file,), file)


def read_distribution(folder: Path) -> Distribution | None:
    """Return the project in `folder`, or None when no pyproject.toml, setup.cfg or setup.py is one.

    Raises BundleError(PYPROJECT_INVALID) for a pyproject.toml that is not TOML.
    """
    file = folder / "pyproject.toml"
    content: Mapping[str, Any] = {}
    if file.is_file():
        try:
            content = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BundleError(
                "PYPROJECT_INVALID",
                f"{file}: this is not valid TOML: {error}.",
                next_step="Correct the file.",
            ) from None
    backend = content.get("build-system", {}).get("build-backend")
    project = content.get("project", {})
    poetry = content.get("tool", {}).get("poetry", {})
    by_poetry = "name" not in project or str(backend).startswith("poetry")
    name = project.get("name") or poetry.get("name")
    if name is None:
        return read_setuptools_project(folder, backend)
    groups = _declared_groups(project, poetry if by_poetry else {})
    points = {name: value for group in reversed(groups) for name, value in group.items()}
    return Distribution(str(name), points, _source_folders(content, folder), file, backend)


def _declared_groups(project: Mapping[str, Any], poetry: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """Return the entry points by group; tables of Poetry replace those that [project] lacks."""
    scripts = project.get("scripts") or {
        # A script is a text or `{reference = …}`.
        name: str(value.get("reference") or value.get("callable")) if isinstance(value, dict) else value
        for name, value in poetry.get("scripts", {}).items()
    }
    groups = project.get("entry-points") or poetry.get("plugins", {})
    return [scripts, project.get("gui-scripts", {}), *groups.values()]


def _source_folders(content: Mapping[str, Any], folder: Path) -> tuple[Path, ...]:
    tool = content.get("tool", {})
    wheel = tool.get("hatch", {}).get("build", {}).get("targets", {}).get("wheel", {})
    setuptools = tool.get("setuptools", {})
    packages = [*wheel.get("packages", ()), *wheel.get("force-include", ()), *wheel.get("only-include", ())]
    stated = [str(Path(package).parent) for package in packages]
    stated += [str(each.get("from") or ".") for each in tool.get("poetry", {}).get("packages", ())]
    finder = setuptools.get("packages", {})
    if isinstance(finder, dict):
        stated += finder.get("find", {}).get("where", [])
    stated += [str(path) for path in setuptools.get("package-dir", {}).values()]
    candidates = [(folder / path).resolve() for path in [*stated, "src", "."]]
    return tuple(dict.fromkeys(path for path in candidates if path.is_dir()))
