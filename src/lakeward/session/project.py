"""`[tool.lakeward]` in the project's pyproject.toml."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from lakeward.errors import ConfigurationError

__all__ = ["project_file", "project_table"]


def project_file(folder: Path) -> Path | None:
    """The pyproject.toml of `folder` or of the nearest folder above it that has one."""
    return next((f for p in (folder, *folder.parents) if (f := p / "pyproject.toml").is_file()), None)


def project_table(folder: Path) -> dict[str, Any]:
    """`[tool.lakeward]` of the project that `folder` is in; empty without one.

    Raises ConfigurationError for a file that is no TOML.
    """
    file = project_file(folder)
    if file is None:
        return {}
    # The standard library has it from 3.11 on, and there it is the very same code.
    # Loaded only here: the package must also import where no package is installed.
    tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        content: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError("PYPROJECT_INVALID", f"{file} is not valid TOML: {error}.") from None
    except OSError:
        return {}
    table = (content.get("tool") or {}).get("lakeward") or {}
    if not isinstance(table, dict):
        raise ConfigurationError("PYPROJECT_INVALID", f"{file}: `tool.lakeward` is not a table.")
    return table
