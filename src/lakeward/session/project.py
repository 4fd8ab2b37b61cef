"""`[tool.lakeward]` of the project's pyproject.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lakeward.errors import ConfigurationError


def project_file(folder: Path) -> Path | None:
    """Return the pyproject.toml of `folder` or of its nearest parent that has one."""
    return next((f for p in (folder, *folder.parents) if (f := p / "pyproject.toml").is_file()), None)


def project_table(folder: Path) -> dict[str, Any]:
    """Return `[tool.lakeward]` of the project that contains `folder`; empty without one.

    Raises ConfigurationError for invalid TOML.
    """
    file = project_file(folder)
    if file is None:
        return {}
    # Imported here: this package must be importable without any installed package.
    from lakeward.toml_parser import tomllib

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
