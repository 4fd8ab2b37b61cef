"""Where the code of a wheel stands: before it is built, read from its pyproject.toml, or in the wheel itself.

Source: https://packaging.python.org/en/latest/specifications/entry-points/ and the documentation of
hatchling and setuptools for the folders of the sources.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from lakeward.errors import BundleError

__all__ = ["Distribution", "read_distribution", "read_wheel"]

# The standard library has it from 3.11 on, and there it is the very same code.
tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


@dataclass(frozen=True)
class Distribution:
    """A Python project, built or not: name, entry points, folders of its sources, build backend."""

    name: str
    entry_points: Mapping[str, str]
    source_folders: tuple[Path, ...]
    file: Path
    backend: str | None = None

    def is_package(self, name: str) -> bool:
        """Tell whether `name` names this project; case, `-`, `_` and `.` do not count (PEP 503)."""
        return _normalised(name) == _normalised(self.name)


def read_wheel(file: Path) -> Distribution:
    """Return the project that was built as `file`; its modules can be imported from the file itself.

    Entry points of all groups count. A file that is no wheel has none.
    """
    points = {
        point.name: point.value for found in distributions(path=[str(file)]) for point in found.entry_points
    }
    return Distribution(file.name.split("-")[0], points, (file,), file)


def read_distribution(folder: Path) -> Distribution | None:
    """Return the project in `folder`, or None when it has no pyproject.toml that names one.

    Raises BundleError(PYPROJECT_INVALID) for a file that is not TOML.
    """
    file = folder / "pyproject.toml"
    if not file.is_file():
        return None
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BundleError("PYPROJECT_INVALID", f"{file}: this is not valid TOML: {error}.") from None
    project = content.get("project", {})
    if "name" not in project:
        return None
    groups = [
        project.get("scripts", {}),
        project.get("gui-scripts", {}),
        *project.get("entry-points", {}).values(),
    ]
    points = {name: value for group in reversed(groups) for name, value in group.items()}
    backend = content.get("build-system", {}).get("build-backend")
    return Distribution(str(project["name"]), points, _source_folders(content, folder), file, backend)


def _source_folders(content: Mapping[str, Any], folder: Path) -> tuple[Path, ...]:
    tool = content.get("tool", {})
    wheel = tool.get("hatch", {}).get("build", {}).get("targets", {}).get("wheel", {})
    setuptools = tool.get("setuptools", {})
    packages = [*wheel.get("packages", ()), *wheel.get("force-include", ()), *wheel.get("only-include", ())]
    stated = [str(Path(package).parent) for package in packages]
    finder = setuptools.get("packages", {})
    if isinstance(finder, dict):
        stated += finder.get("find", {}).get("where", [])
    stated += [str(path) for path in setuptools.get("package-dir", {}).values()]
    candidates = [(folder / path).resolve() for path in [*stated, "src", "."]]
    return tuple(dict.fromkeys(path for path in candidates if path.is_dir()))


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
