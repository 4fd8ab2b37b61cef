"""Pipfile. Source: https://pipenv.pypa.io/en/latest/pipfile.html"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from lakeward.environments.model import Declarations, DeclaredRequirement, Role
from lakeward.environments.sources.reading import indexes, python_wanted, read_requirements, read_toml
from lakeward.environments.sources.uv_sources import git_url

_SECTIONS = (("packages", Role.RUN), ("dev-packages", Role.TEST))


def read(root: Path) -> Declarations:
    """Return the declarations of the Pipfile in `root`."""
    content = read_toml(root / "Pipfile", condition="REQUIREMENTS_INVALID")
    if not content:
        return Declarations()
    parts = [Declarations(files=(root / "Pipfile",), index_options=indexes(content.get("source")))]
    required = content.get("requires") or {}
    if required.get("python_version"):
        parts.append(
            Declarations(python=python_wanted(f"=={required['python_version']}.*", "Pipfile python_version"))
        )
    for section, role in _SECTIONS:
        for name, stated in (content.get(section) or {}).items():
            parts.append(_package(name, stated, f"Pipfile [{section}]", role, root))
    return reduce(add, parts)


def _package(name: str, stated: object, origin: str, role: Role, root: Path) -> Declarations:
    settings: Mapping[str, Any] = stated if isinstance(stated, dict) else {"version": stated}
    if "path" in settings:
        place = (root / str(settings["path"])).resolve()
        return (
            Declarations()
            if place == root.resolve()
            else Declarations((DeclaredRequirement(f"-e {place}", origin, role),))
        )
    extras = f"[{','.join(settings['extras'])}]" if settings.get("extras") else ""
    if "git" in settings:
        text = f"{name}{extras} @ {git_url({**settings, 'rev': settings.get('ref')})}"
    else:
        version = str(settings.get("version") or "*")
        text = f"{name}{extras}{'' if version == '*' else version}"
    marker = settings.get("markers")
    return read_requirements([f"{text} ; {marker}" if marker else text], origin, role, root)
