"""Requirements as a repository writes them: requirements files and pyproject.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lakeward.check.model import Place, Use
from lakeward.environments import decoded_text
from lakeward.toml_parser import tomllib

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*\(?([^;#)@]*)")
_POETRY = re.compile(r"^(\^|~(?!=))\s*(\d+)(?:\.(\d+))?")


def requirements_in(name: str, content: bytes) -> Iterator[Use]:
    """Yield the requirements of one file. Raises ValueError for one that cannot be read."""
    source = decoded_text(content)
    if not name.endswith(".toml"):
        for number, line in enumerate(source.splitlines(), start=1):
            yield from _one(line, Place(name, 0, number, 1))
        return
    lines = source.splitlines()
    for text in _pyproject_requirements(tomllib.loads(source)):
        package = _REQUIREMENT.match(text)
        if package is not None:
            number = next((n for n, line in enumerate(lines, start=1) if package[1] in line), 1)
            yield from _one(text, Place(name, 0, number, 1))


def _one(text: str, place: Place) -> Iterator[Use]:
    found = _REQUIREMENT.match(text)
    if found is not None and not text.lstrip().startswith(("-", "#")):
        yield Use("requirement", found[1], place, found[2].strip().strip(",") or None)


def _pyproject_requirements(content: Mapping[str, Any]) -> Iterator[str]:
    project, tool = content.get("project", {}), content.get("tool", {})
    groups = [
        project.get("dependencies", ()),
        *project.get("optional-dependencies", {}).values(),
        *content.get("dependency-groups", {}).values(),
        tool.get("uv", {}).get("dev-dependencies", ()),
        *tool.get("pdm", {}).get("dev-dependencies", {}).values(),
    ]
    yield from (text for group in groups for text in group if isinstance(text, str))
    poetry = tool.get("poetry", {})
    tables = [poetry.get("dependencies", {}), poetry.get("dev-dependencies", {})]
    tables += [group.get("dependencies", {}) for group in poetry.get("group", {}).values()]
    for table in tables:
        for name, version in table.items():
            text = version.get("version") if isinstance(version, dict) else version
            yield f"{name}{_specifier(text)}" if isinstance(text, str) else name


def _specifier(poetry: str) -> str:
    """Return Poetry's `^3.5`, `~3.5` and bare `3.5.0` as specifiers of PEP 440."""
    caret = _POETRY.match(poetry)
    if caret is not None:
        major, minor = int(caret[2]), caret[3]
        lowest = poetry[1:].strip()
        if (caret[1] == "^" and major) or minor is None:
            return f">={lowest},<{major + 1}"
        return f">={lowest},<{major}.{int(minor) + 1}"
    return poetry if not poetry[:1].isdigit() else f"=={poetry}"
