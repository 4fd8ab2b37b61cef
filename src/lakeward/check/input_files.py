"""Files of the platform that are read and that nothing in the repository writes: they have to be mapped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from lakeward.check.model import Finding, Use
from lakeward.check.verdicts.paths import is_mounted
from lakeward.session.paths import PathMap

_HOLE = "{…}"
# `/databricks-datasets` and URIs of object stores have findings of their own.
_ROOTS = {"Volumes": 4, "mnt": 2, "FileStore": 2}


def files_needed(uses: Iterable[Use], path_map: PathMap, homes: Collection[Path]) -> Iterator[Finding]:
    """Yield a finding for each read of files that no use writes and that are not there.

    A write meets a read of the same path, of one above and of one below it; a hole meets everything. With a
    write to a path that only a run knows, all paths that the code names elsewhere count as written.

    Args:
        uses: what the repository does.
        path_map: the map of platform paths with the project's mounts.
        homes: the folders of the project's lakehouses, one for each target.
    """
    uses = list(uses)
    written = [_parts(use.name) for use in uses if use.kind == "writes_files"]
    if any(parts is None for parts in written):
        # A path that only a run knows is made of paths that the code spells out.
        read = {(use.place.file, use.name) for use in uses if use.kind == "reads_files"}
        others = (use for use in uses if use.kind == "path" and (use.place.file, use.name) not in read)
        written += [_parts(use.name) for use in others]
    made = [parts for parts in written if parts]
    for use in uses:
        parts = _parts(use.name) if use.kind == "reads_files" else None
        if not parts or parts[0] not in _ROOTS or any(_overlap(parts, each) for each in made):
            continue
        name = "/" + "/".join(parts)
        if is_mounted(name, path_map) or any(_is_in(home, parts) for home in homes):
            continue
        root = "/" + "/".join(parts[: _ROOTS[parts[0]]])
        cure = (
            f"Nothing in the repository writes {name}: map a folder with the files, "
            f"`--mount {root}=FOLDER`, or [tool.lakeward.mounts] in pyproject.toml."
        )
        yield Finding("needs_seed", f"files in {root}", use.place, cure)


def _parts(path: str) -> tuple[str, ...] | None:
    """Return the parts of a platform path; none for other paths, None for one that only a run knows."""
    if path.startswith(_HOLE):
        return None
    for prefix in ("dbfs:", "/dbfs/"):
        if path.startswith(prefix):
            path = "/" + path[len(prefix) :]
    return tuple(part for part in path.split("/") if part) if path.startswith("/") else ()


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return all(
        a == b or _HOLE in a or _HOLE in b or any(sign in a + b for sign in "*?[{")
        for a, b in zip(one, other, strict=False)
    )


def _is_in(home: Path, parts: tuple[str, ...]) -> bool:
    """Return whether a lakehouse has the folder of the path, up to its first wildcard."""
    fixed = []
    for part in parts:
        if any(sign in part for sign in "*?[{"):
            break
        fixed.append(part)
    below = home / "volumes" / Path(*fixed[1:]) if parts[0] == "Volumes" else home / "dbfs" / Path(*fixed)
    return len(fixed) > 1 and below.exists()
