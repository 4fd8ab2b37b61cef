"""Lock files: the versions with which the repository was last seen to work, taken as constraints."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from lakeward.environments.model import Declarations, Lock
from lakeward.environments.sources.reading import read_text, read_toml
from lakeward.errors import ConfigurationError

_INVALID = "LOCK_INVALID"
_TOML = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")


def read(root: Path) -> Declarations:
    """Return the lock file of `root`; a member of a uv workspace has the lock of the workspace."""
    for name in _TOML:
        file = _up(root, name) if name == "uv.lock" else root / name
        content = read_toml(file, condition=_INVALID) if file is not None else {}
        if file is not None and content:
            packages = content.get("package") or content.get("packages") or ()
            return Declarations(lock=Lock(name, _single(_packages(packages))), files=(file,))
    file = root / "Pipfile.lock"
    if not file.is_file():
        return Declarations()
    try:
        locked = json.loads(read_text(file, condition=_INVALID))
    except json.JSONDecodeError as error:
        message = f"{file}: this is not valid JSON: {error}."
        raise ConfigurationError(_INVALID, message, next_step="Run pipenv lock.") from None
    pairs = [
        (name, str(entry["version"]).removeprefix("=="))
        for section in ("default", "develop")
        for name, entry in (locked.get(section) or {}).items()
        if isinstance(entry, dict) and str(entry.get("version", "")).startswith("==")
    ]
    return Declarations(lock=Lock("Pipfile.lock", _single(pairs)), files=(file,))


def _up(root: Path, name: str) -> Path | None:
    for folder in (root, *root.parents):
        if (folder / name).is_file():
            return folder / name
        if (folder / ".git").exists():
            break
    return None


def _packages(packages: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for package in packages:
        source = package.get("source")
        # What comes from a folder or a Git repository is installed from there, whatever its version.
        elsewhere = isinstance(source, dict) and not ({"registry", "type"} & source.keys())
        git = isinstance(source, dict) and source.get("type") in ("git", "directory", "file", "url")
        if not elsewhere and not git and "version" in package:
            yield str(package["name"]), str(package["version"])


def _single(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return versions by name; a package with several, for several Pythons, is left to the installer."""
    versions: dict[str, set[str]] = {}
    for name, version in pairs:
        versions.setdefault(canonicalize_name(name), set()).add(version)
    return {name: found.pop() for name, found in versions.items() if len(found) == 1}
