"""`[tool.poetry]`: Poetry's own way to name dependencies, said in the standard's.

Source: https://python-poetry.org/docs/dependency-specification/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from lakeward.environments.groups import group_role
from lakeward.environments.model import Declarations, DeclaredRequirement, Role
from lakeward.environments.sources.reading import indexes, python_wanted, read_requirements, read_toml
from lakeward.environments.sources.uv_sources import git_url


def read(root: Path) -> Declarations:
    """Return the requirements of the Poetry table in the pyproject.toml of `root`; empty without one."""
    tool = read_toml(root / "pyproject.toml").get("tool") or {}
    poetry = tool.get("poetry")
    if not isinstance(poetry, dict):
        return Declarations()
    parts = [Declarations(index_options=indexes(poetry.get("source")))]
    main = dict(poetry.get("dependencies") or {})
    python = main.pop("python", None)
    if python is not None:
        parts.append(
            Declarations(
                python=python_wanted(standard_constraint(str(python)), "pyproject.toml [tool.poetry] python")
            )
        )
    parts.append(_section(main, "pyproject.toml [tool.poetry]", Role.RUN, root))
    old = {"dependencies": poetry.get("dev-dependencies") or {}}
    for name, group in [("dev", old), *(poetry.get("group") or {}).items()]:
        role = group_role(name)
        if role is not None:
            origin = f"pyproject.toml [tool.poetry] group {name}"
            parts.append(_section(group.get("dependencies") or {}, origin, role, root))
    return reduce(add, parts)


def _section(section: Mapping[str, Any], origin: str, role: Role, root: Path) -> Declarations:
    parts = [Declarations()]
    for name, stated in section.items():
        for each in stated if isinstance(stated, list) else [stated]:
            settings = each if isinstance(each, dict) else {"version": str(each)}
            if "path" in settings:
                place = (root / str(settings["path"])).resolve()
                text = f"-e {place}" if place.is_dir() else str(place)
                parts.append(Declarations((DeclaredRequirement(text, origin, role),)))
            else:
                parts.append(read_requirements([_requirement(name, settings)], origin, role, root))
    return reduce(add, parts)


def _requirement(name: str, settings: Mapping[str, Any]) -> str:
    extras = settings.get("extras") or ()
    text = f"{name}[{','.join(map(str, extras))}]" if extras else name
    if "git" in settings:
        text += f" @ {git_url(settings)}"
    elif "url" in settings:
        text += f" @ {settings['url']}"
    else:
        text += standard_constraint(str(settings.get("version") or "*"))
    markers = " and ".join(f"({marker})" for marker in _markers(settings))
    return f"{text} ; {markers}" if markers else text


def _markers(settings: Mapping[str, Any]) -> Iterator[str]:
    if settings.get("markers"):
        yield str(settings["markers"])
    if settings.get("platform"):
        yield f"sys_platform == '{settings['platform']}'"
    if settings.get("python"):
        for clause in standard_constraint(str(settings["python"])).split(","):
            found = re.fullmatch(r"(\D+?)([\d.*]+)", clause)
            if found is not None:
                name = (
                    "python_version" if found[2].count(".") < 2 or "*" in found[2] else "python_full_version"
                )
                yield f"{name} {found[1]} '{found[2]}'"


def standard_constraint(version: str) -> str:
    """Return a version constraint of Poetry's as PEP 440 has it.

    Of alternatives (`||`) the span from the first to the last is taken, which holds all of them.

    >>> [standard_constraint(text) for text in ("^1.2.3", "~1.2", "1.2.*", "*", "2.0")]
    ['>=1.2.3,<2', '>=1.2,<1.3', '==1.2.*', '', '==2.0']
    >>> [standard_constraint(text) for text in (">=1,<2", "^0.0.3", "^1 || ^2")]
    ['>=1,<2', '>=0.0.3,<0.0.4', '>=1,<3']
    """
    alternatives = [part.strip() for part in re.split(r"\|\|?", version) if part.strip()]
    if len(alternatives) > 1:
        first, last = standard_constraint(alternatives[0]), standard_constraint(alternatives[-1])
        lower = [clause for clause in first.split(",") if clause.startswith((">", "=="))]
        upper = [clause for clause in last.split(",") if clause.startswith(("<", "=="))]
        return ",".join(
            clause.replace("==", sign).replace(".*", "")
            for clauses, sign in ((lower, ">="), (upper, "<="))
            for clause in clauses
        )
    clauses = re.split(r"\s*,\s*|\s+(?=[<>=!~^])", version.strip())
    return ",".join(filter(None, (_clause(clause.replace(" ", "")) for clause in clauses)))


def _clause(clause: str) -> str:
    if clause in ("", "*"):
        return ""
    sign = re.match(r"[<>=!~^]*", clause)
    operator = sign[0] if sign else ""
    number = clause[len(operator) :]
    if operator == "^":
        return f">={number},<{_next(number, caret=True)}"
    if operator == "~":
        return f">={number},<{_next(number, caret=False)}"
    if operator in ("", "="):
        return f"=={number}"
    return clause


def _next(version: str, *, caret: bool) -> str:
    """Return the first version that a caret or a tilde excludes."""
    parts = [int(part) for part in re.findall(r"\d+", re.split(r"[^\d.]", version)[0])] or [0]
    position = (
        next((i for i, part in enumerate(parts) if part), len(parts) - 1) if caret else min(1, len(parts) - 1)
    )
    return ".".join(map(str, [*parts[:position], parts[position] + 1]))
