"""setup.cfg, and what setup.py states in words; it is read, never run.

Lists are followed through names and sums. What setup.py computes otherwise, most often by reading a
requirements file, is left to that file.
"""

from __future__ import annotations

import ast
import configparser
from collections.abc import Mapping
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from lakeward.environments.groups import group_role
from lakeward.environments.model import Declarations, LeftOut, Role
from lakeward.environments.sources.reading import python_wanted, read_requirements, read_text
from lakeward.errors import ConfigurationError


class _Computed(Exception):
    """A value that only running the file would determine."""


def read(root: Path) -> Declarations:
    """Return the declarations of setup.cfg and setup.py in `root`."""
    return _from_cfg(root) + _from_py(root)


def _from_cfg(root: Path) -> Declarations:
    file = root / "setup.cfg"
    if not file.is_file():
        return Declarations()
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(read_text(file))
    except configparser.Error as error:
        message = " ".join(str(error).split())
        raise ConfigurationError(
            "REQUIREMENTS_INVALID",
            f"{file} cannot be read: {message}.",
            next_step="Correct it, or remove the file.",
        ) from None
    options = dict(parser["options"]) if parser.has_section("options") else {}
    settings: dict[str, Any] = {
        "install_requires": _listed(options.get("install_requires", "")),
        "tests_require": _listed(options.get("tests_require", "")),
        "python_requires": options.get("python_requires"),
        "extras_require": {
            name: _listed(value)
            for name, value in (
                parser["options.extras_require"].items()
                if parser.has_section("options.extras_require")
                else ()
            )
        },
    }
    return _settings(settings, "setup.cfg", root) + Declarations(files=(file,))


def _listed(text: str) -> list[str]:
    lines = [line.strip() for line in text.replace(";\n", "\n").splitlines()]
    # `file:` leads to a requirements file, which is read for itself.
    return [line for line in lines if line and not line.startswith(("#", "file:"))]


def _from_py(root: Path) -> Declarations:
    file = root / "setup.py"
    if not file.is_file():
        return Declarations()
    try:
        tree = ast.parse(read_text(file))
    except (SyntaxError, ValueError) as error:
        raise ConfigurationError(
            "REQUIREMENTS_INVALID",
            f"{file} cannot be read: {error}.",
            next_step="Correct it, or remove the file.",
        ) from None
    call = next((node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_setup(node)), None)
    known: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            known[node.target.id] = node.value
    settings: dict[str, Any] = {}
    computed: list[LeftOut] = []
    keys = ("install_requires", "tests_require", "extras_require", "python_requires")
    for keyword in call.keywords if call is not None else ():
        if keyword.arg in keys:
            try:
                settings[keyword.arg] = _value(keyword.value, known)
            except _Computed:
                why = "it is computed there; requirements files are read for themselves"
                computed.append(LeftOut(keyword.arg, f"setup.py:{keyword.value.lineno}", why))
    return _settings(settings, "setup.py", root) + Declarations(left_out=tuple(computed), files=(file,))


def _is_setup(call: ast.Call) -> bool:
    function = call.func
    return (isinstance(function, ast.Name) and function.id == "setup") or (
        isinstance(function, ast.Attribute) and function.attr == "setup"
    )


def _value(node: ast.expr, known: Mapping[str, ast.expr], depth: int = 0) -> Any:
    """Return the value of an expression made of constants, lists, names and sums. Raises _Computed."""
    if depth > 20:
        raise _Computed
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in known:
        return _value(known[node.id], known, depth + 1)
    if isinstance(node, ast.List | ast.Tuple):
        items: list[Any] = []
        for item in node.elts:
            if isinstance(item, ast.Starred):
                items += _value(item.value, known, depth + 1)
            else:
                items.append(_value(item, known, depth + 1))
        return items
    if isinstance(node, ast.Dict):
        return {
            _value(key, known, depth + 1): _value(value, known, depth + 1)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        }
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _value(node.left, known, depth + 1) + _value(node.right, known, depth + 1)
    raise _Computed


def _settings(settings: Mapping[str, Any], origin: str, root: Path) -> Declarations:
    parts = [
        read_requirements(
            _strings(settings.get("install_requires")), f"{origin} install_requires", Role.RUN, root
        ),
        read_requirements(
            _strings(settings.get("tests_require")), f"{origin} tests_require", Role.TEST, root
        ),
    ]
    for extra, texts in (settings.get("extras_require") or {}).items():
        role = group_role(str(extra).split(":")[0])
        if role is not None:
            parts.append(read_requirements(_strings(texts), f"{origin} extra {extra}", role, root))
    if settings.get("python_requires"):
        parts.append(
            Declarations(python=python_wanted(settings["python_requires"], f"{origin} python_requires"))
        )
    return reduce(add, parts)


def _strings(value: Any) -> list[str]:
    return _listed(value) if isinstance(value, str) else [str(each) for each in value or ()]
