"""The hint of an error about files without a schema: the folder that has no files, and the next step."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lakeward.errors import LakewardError
from lakeward.session.paths import PathMap


def empty_folder_hint(paths: Iterable[str], mapped: PathMap) -> str | None:
    """Return the first of the paths that is a folder without files that Spark reads, and the next step."""
    for path in dict.fromkeys(paths):
        try:
            local = Path(mapped.require_local(path))
        except LakewardError:
            continue
        if not local.is_dir() or _has_files(local):
            continue
        same = str(local) == path.removeprefix("file:")
        where = f"The folder {local}" if same else f"The path {path} is the folder {local} here, which"
        prefix = path.removeprefix("dbfs:").rstrip("/")
        mount = "" if same else f", or map another folder: --mount {prefix}=FOLDER"
        return (
            f"{where} has no files that Spark reads (names that begin with _ or . are skipped). "
            f"Put files there{mount}."
        )
    return None


def _has_files(folder: Path) -> bool:
    """Return whether there is a file that is not hidden, in a folder that is not hidden."""
    inside = (each for each in folder.iterdir() if each.name[0] not in "._" or "=" in each.name)
    return any(_has_files(each) if each.is_dir() else True for each in inside)
