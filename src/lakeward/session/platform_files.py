"""Files that jobs, pipelines and notebooks name by their path in a workspace.

`/Workspace/Users/ann@example.com/shop/etl/load` is a copy of a file of the repository. It is found by
its tail: the longest one that a file of the repository ends with (`shop/etl/load`, `etl/load`, `load`).
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.errors import ConfigurationError
from lakeward.session.paths import PathMap
from lakeward.user_code import is_source_folder

if TYPE_CHECKING:
    from lakeward.session.settings import Settings

MOUNT_ADVICE = (
    "Map its folder: `--mount /Workspace/…=FOLDER`, or [tool.lakeward.mounts] in pyproject.toml. "
    "Files of the repository are found by the end of their path."
)

_ROOTS = ("/Workspace/", "/Repos/", "/Users/", "/Shared/")
_EXTENSIONS = (".py", ".sql", ".ipynb")
_MARKERS = ("pyproject.toml", "databricks.yml", "databricks.yaml", "setup.py", "setup.cfg")


def is_platform_path(path: str) -> bool:
    """Return whether `path` is absolute in a workspace.

    >>> [is_platform_path(path) for path in ("/Repos/a/b", "/Workspace/x", "/tmp/x", "src/x")]
    [True, True, False, False]
    """
    return path.startswith("/") and f"/{path.lstrip('/')}".startswith(_ROOTS)


def _clean(path: str) -> str:
    """Normalize a path; POSIX keeps two slashes at its start, and a workspace has one root."""
    return posixpath.normpath("/" + path.lstrip("/"))


def find_platform_file(
    path: str, root: Path, *, settings: Settings | None = None, extensions: Sequence[str] = _EXTENSIONS
) -> Path | None:
    """Return the local file of a workspace path that is written with or without its extension.

    A mount wins, then a file of that path on this machine, then the repository that `root` is in: the
    file with the longest tail. Of several, the one at that tail below `root` or below the repository wins.

    Args:
        path: A workspace path, see `is_platform_path`.
        root: The folder of the bundle, job file, pipeline or notebook that names it.
        settings: Those with the mounts; default: those of `root`.
        extensions: Extensions that `path` may lack, in the order of preference.

    Raises:
        ConfigurationError: PATH_AMBIGUOUS, with the candidates.
    """
    names = ("", *extensions)
    for place in _direct(path, root, settings):
        for extension in names:
            candidate = place.with_name(place.name + extension)
            if candidate.is_file():
                return candidate.resolve()
    return _find_by_tail(path, root, names, folders=False)


def find_platform_folder(path: str, root: Path, *, settings: Settings | None) -> Path | None:
    """Return the local folder of a workspace path, by the rules of `find_platform_file`.

    The repository itself is found by its name.
    """
    for place in _direct(path, root, settings):
        if place.is_dir():
            return place.resolve()
    found = _find_by_tail(path, root, ("",), folders=True)
    if found is None:
        repository = _repository(root.absolute().resolve())
        return repository if repository.name == posixpath.basename(_clean(path)) else None
    return found


def find_platform_mount(path: str, root: Path) -> tuple[str, Path] | None:
    """Return the folder above a workspace path, and the local folder of the repository that is a copy of it.

    Both are as far up as their names below the repository are equal. None if the repository around `root` has
    no such file or folder, or several.
    """
    try:
        found = find_platform_file(path, root, extensions=()) or find_platform_folder(
            path, root, settings=None
        )
    except ConfigurationError:
        return None
    base = _repository(root.absolute().resolve())
    if found is None or base not in found.parents:
        return None
    prefix, folder = path.rpartition("/")[0], found.parent
    while folder != base and posixpath.basename(prefix) == folder.name:
        prefix, folder = posixpath.dirname(prefix), folder.parent
    return prefix, folder


def find_platform_sources(pattern: str, root: Path, *, settings: Settings | None = None) -> str | None:
    """Return the local form of a file, folder or glob below a workspace path; None for what is not found.

    Of a glob the folder before its first wildcard is found by the rules of `find_platform_file`.
    """
    parts = pattern.split("/")
    fixed = next((n for n, part in enumerate(parts) if any(mark in part for mark in "*?[")), len(parts))
    if fixed == len(parts):
        found = find_platform_file(pattern, root, settings=settings)
        return str(found or find_platform_folder(pattern, root, settings=settings) or "") or None
    folder = find_platform_folder("/".join(parts[:fixed]), root, settings=settings)
    return "/".join((str(folder), *parts[fixed:])) if folder is not None else None


def _direct(path: str, root: Path, settings: Settings | None) -> Iterator[Path]:
    """Yield the places of the path that are known without a search, mapped ones first."""
    from lakeward.session.settings import Settings

    path_map = PathMap.of(settings or Settings.here(root))
    short = _short(path)
    for spelling in dict.fromkeys((_clean(path), f"/Workspace{short}", short)):
        local = path_map.local(spelling)
        if local != spelling:
            yield Path(local)
    yield Path(path)


def _short(path: str) -> str:
    """Return the path without `/Workspace`, which older paths lack."""
    clean = _clean(path)
    return clean.removeprefix("/Workspace") if clean.startswith("/Workspace/") else clean


def _find_by_tail(path: str, root: Path, extensions: Sequence[str], *, folders: bool) -> Path | None:
    parts = tuple(_short(path).strip("/").split("/"))
    root = root.absolute().resolve()
    base = _repository(root)
    best: dict[Path, tuple[int, Path]] = {}
    for place, found in _find_entries(base, [parts[-1] + each for each in extensions], folders=folders):
        best[place] = (_common(parts[:-1], place.relative_to(base).parts), found)
    longest = max((length for length, _ in best.values()), default=0)
    matches = {place: found for place, (length, found) in best.items() if length == longest}
    if len(matches) > 1:
        tail = parts[len(parts) - 1 - longest : -1]
        for start in (root, base):
            anchored = matches.get(start.joinpath(*tail))
            if anchored is not None:
                return anchored
        names = ", ".join(sorted(str(each.relative_to(base)) for each in matches.values()))
        raise ConfigurationError(
            "PATH_AMBIGUOUS",
            f"{path} may be each of these in {base}: {names}.",
            next_step="Map its folder with `--mount /Workspace/…=FOLDER` or [tool.lakeward.mounts].",
        )
    return next(iter(matches.values()), None)


def _find_entries(base: Path, names: Sequence[str], *, folders: bool) -> Iterator[tuple[Path, Path]]:
    """Yield (folder, entry) for each folder at or below `base` with an entry of one of `names`, the first."""
    for folder, inner, files in os.walk(base):
        inner[:] = sorted(filter(is_source_folder, inner))
        present = set(inner if folders else files)
        name = next((each for each in names if each in present), None)
        if name is not None:
            yield Path(folder), Path(folder, name)


def _common(wanted: Sequence[str], found: Sequence[str]) -> int:
    """Return how many of the last parts are equal."""
    length = 0
    for one, other in zip(reversed(wanted), reversed(found), strict=False):
        if one != other:
            break
        length += 1
    return length


def _repository(root: Path) -> Path:
    """Return the repository that `root` is in, else its project's folder, else `root`.

    A folder inside a hidden one, such as a deployed bundle in the state folder, is searched alone. The
    user's home is never searched.
    """
    above = []
    for folder in (root, *root.parents):
        if folder in (Path.home(), Path(folder.anchor)):
            break
        above.append(folder)
        if folder.name.startswith("."):
            return root
    for markers in ((".git",), _MARKERS):
        for folder in above:
            if any((folder / marker).exists() for marker in markers):
                return folder
    return root
