"""Packages of the runtime that the code of a repository imports without declaring them.

On the platform such an import works, so the repository's environment has to have them. Code is searched for
import statements by their text: this is done before every command and must not take longer than that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from lakeward.environments.distributions import NAMESPACES
from lakeward.environments.repository import code_files, is_repository
from lakeward.environments.runtime_packages import RuntimePackage, find_runtime_package

_STATEMENT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>\w[\w.]*)[ \t]+import[\s(\\]+(?P<name>[\w*]+)"
    r"|import[ \t]+(?P<modules>\w[\w., \t]*))",
    re.MULTILINE,
)
# Blocks whose imports have an alternative.
_GUARD = re.compile(r"(try|except\b.*|else|if\b.*\b(TYPE_CHECKING|version_info)\b.*)[ \t]*:")
# Larger files are data, as a rule.
_LARGEST = 2_000_000


@dataclass(frozen=True)
class ImportedPackage:
    """A package of the runtime, and the file that imports it, relative to the repository."""

    package: RuntimePackage
    file: str


def imported_packages(root: Path, runtime: str | None) -> tuple[ImportedPackage, ...]:
    """Return the packages of `runtime` that the code below `root` imports, each with the first file.

    A folder that is no repository, as a home folder, is not searched below its own files.
    """
    files = list(code_files(root) if is_repository(root) else _own_code(root))
    own = {part for file in files for part in (*file.parent.parts, file.stem)}
    found: dict[str, ImportedPackage] = {}
    for file in files:
        for module in _modules(_text(root / file)):
            top = module.partition(".")[0]
            package = None if top in own else find_runtime_package(module, runtime)
            if package is not None and not _is_served(top):
                found.setdefault(package.package, ImportedPackage(package, file.as_posix()))
    return tuple(found.values())


def _own_code(root: Path) -> Iterator[Path]:
    return (Path(each.name) for each in root.iterdir() if each.suffix in (".py", ".ipynb"))


def missing_imported_packages(root: Path) -> tuple[str, ...]:
    """Return those packages of the newest runtime, imported below `root`, that are not installed here."""
    found = imported_packages(root, None)
    return tuple(each.package.package for each in found if not _is_there(each.package))


def _is_served(module: str) -> bool:
    # Imported on use: start-up time of every command counts.
    from lakeward.databricks_shims import REPLACED

    return module in REPLACED


def _is_there(package: RuntimePackage) -> bool:
    for name in (package.package, package.name):
        with suppress(metadata.PackageNotFoundError):
            metadata.version(name)
            return True
    return False


def _modules(text: str) -> Iterator[str]:
    """Yield the modules that import statements name, but for imports that may fail.

    >>> list(_modules("import os, yaml as y\\nfrom azure.storage import blob\\nfrom bs4 import (\\n  X)"))
    ['os', 'yaml', 'azure.storage.blob', 'bs4']
    >>> list(_modules("try:\\n    import tomllib\\nexcept ImportError:\\n    import tomli as tomllib"))
    []
    """
    for match in _STATEMENT.finditer(text):
        if _is_guarded(text, match.start()):
            continue
        module = match["module"]
        if module is None:
            yield from (words[0] for part in match["modules"].split(",") if (words := part.split()))
        elif module.partition(".")[0] in NAMESPACES:
            yield f"{module}.{match['name']}"
        else:
            yield module


def _is_guarded(text: str, start: int) -> bool:
    """Return whether the statement at `start` of a line is directly in a block of `_GUARD`."""
    indent = len(text[start:]) - len(text[start:].lstrip(" \t"))
    for line in reversed(text[:start].splitlines() if indent else ()):
        inner = line.lstrip()
        if inner and len(line) - len(inner) < indent:
            return _GUARD.match(inner) is not None
    return False


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > _LARGEST:
            return ""
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    if file.suffix != ".ipynb":
        return text
    with suppress(ValueError, AttributeError, TypeError, KeyError):
        return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return ""
