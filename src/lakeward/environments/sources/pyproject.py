"""pyproject.toml: dependencies, extras and groups of the standards, and those of uv, PDM, Hatch, setuptools.

Source: PEP 621, PEP 735 and the documentation of the tools for the tables named below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lakeward.environments.groups import group_role
from lakeward.environments.model import Declarations, Role
from lakeward.environments.sources import requirements_txt, uv_sources
from lakeward.environments.sources.reading import indexes, python_wanted, read_requirements, read_toml


def read(root: Path) -> Declarations:
    """Return the declarations of pyproject.toml in `root`, without Poetry's table."""
    file = root / "pyproject.toml"
    content = read_toml(file)
    project = _table(content, "project")
    pdm = _table(_table(content, "tool"), "pdm")
    parts = [Declarations(files=(file,) if content else (), index_options=indexes(pdm.get("source")))]
    if project.get("requires-python"):
        origin = "pyproject.toml requires-python"
        parts.append(Declarations(python=python_wanted(project["requires-python"], origin)))
    parts.append(
        read_requirements(
            project.get("dependencies") or (), "pyproject.toml [project] dependencies", Role.RUN, root
        )
    )
    parts += [_group(root, *group) for group in _groups(content)]
    parts += _dynamic(content, root)
    return uv_sources.apply_uv_sources(reduce(add, parts), content, root)


def _group(root: Path, origin: str, name: str, texts: Iterable[object]) -> Declarations:
    role = group_role(name)
    return Declarations() if role is None else read_requirements(texts, origin, role, root)


def _groups(content: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield every extra and group: where it stands, its name, its requirements."""
    project, tool = _table(content, "project"), _table(content, "tool")
    name = canonicalize_name(str(project.get("name") or ""))
    for extra, texts in _table(project, "optional-dependencies").items():
        # `package[all]` inside the package's own extras names other extras, which are read anyway.
        own = [text for text in texts if not _is(text, name)]
        yield f"pyproject.toml extra {extra}", extra, own
    groups = _table(content, "dependency-groups")
    for group, entries in groups.items():
        # A group that another one includes is read in its own right, or for that one's sake.
        yield f"pyproject.toml group {group}", group, list(_included(groups, entries, (group,)))
    yield "pyproject.toml [tool.uv]", "dev", _table(tool, "uv").get("dev-dependencies") or []
    for group, texts in _table(_table(tool, "pdm"), "dev-dependencies").items():
        yield f"pyproject.toml [tool.pdm] {group}", group, texts
    for environment, settings in _table(_table(tool, "hatch"), "envs").items():
        if isinstance(settings, dict):
            # Hatch runs `hatch test` in hatch-test, and everything else in default.
            use = "test" if environment == "default" else environment
            for key in ("dependencies", "extra-dependencies"):
                yield f"pyproject.toml [tool.hatch.envs.{environment}]", use, settings.get(key) or []


def _included(groups: Mapping[str, Any], entries: Iterable[object], seen: tuple[str, ...]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict) and "include-group" in entry:
            other = str(entry["include-group"])
            if other not in seen:
                yield from _included(groups, groups.get(other) or (), (*seen, other))


def _is(text: str, name: str) -> bool:
    try:
        return bool(name) and canonicalize_name(Requirement(str(text)).name) == name
    except InvalidRequirement:
        return False


def _dynamic(content: Mapping[str, Any], root: Path) -> Iterator[Declarations]:
    """Yield requirements of the files that setuptools reads for dynamic `dependencies`."""
    dynamic = _table(_table(_table(content, "tool"), "setuptools"), "dynamic")
    yield from _files(_table(dynamic, "dependencies").get("file"), Role.RUN, root)
    for extra, settings in _table(dynamic, "optional-dependencies").items():
        role = group_role(extra)
        if role is not None:
            yield from _files(settings.get("file"), role, root)


def _files(named: Any, role: Role, root: Path) -> Iterator[Declarations]:
    for name in [named] if isinstance(named, str) else named or ():
        yield requirements_txt.read_file(root / name, role, root)


def _table(content: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = content.get(key)
    return found if isinstance(found, dict) else {}
