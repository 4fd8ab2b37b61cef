"""The folders of `/Volumes`.

Unity Catalog stores names in lower case and compares them without regard to case: `/Volumes/Main/Sales/Raw`
is the folder of the volume `main.sales.raw`.
"""

from __future__ import annotations

import os
from pathlib import Path

_PARTS = 3  # catalog, schema and volume


def volume_folder(volumes: Path, *names: str) -> Path:
    """Return the folder of a catalog, schema or volume, or of all volumes; it may not exist."""
    return volumes.joinpath(*(name.lower() for name in names))


def names_in(volumes: Path, *names: str) -> set[str]:
    """Return the names of the catalogs, schemas or volumes in a container."""
    folder = volume_folder(volumes, *names)
    if not folder.is_dir():
        return set()
    return {each.name for each in folder.iterdir() if each.is_dir() and not each.name.startswith(".")}


def rename_to_lower_case(volumes: Path) -> None:
    """Rename folders of catalogs, schemas and volumes to lower case, where that name is free.

    Paths lead to folders in lower case. Earlier versions kept the case of bundles and of paths.
    """
    for pattern in ("*", "*/*", "*/*/*"):
        for folder in [each for each in volumes.glob(pattern) if each.name != each.name.lower()]:
            wanted = folder.with_name(folder.name.lower())
            if not wanted.exists():
                folder.rename(wanted)


def absent_volume(volumes: Path, local: Path) -> tuple[str, ...] | None:
    """Return the catalog, schema and volume of a local path if that volume does not exist; else None.

    Of a path above volumes it is the part that has no folder. Files are written into volumes that exist:
    a folder that a write makes would be a volume, a schema and a catalog without a declaration.
    """
    names = _names_below(volumes, local)[:_PARTS]
    return names if names and not volumes.joinpath(*names).is_dir() else None


def is_volume(volumes: Path, local: Path) -> bool:
    """Return whether a local path is the folder of a volume: only DROP VOLUME removes it."""
    return len(_names_below(volumes, local)) == _PARTS


def _names_below(volumes: Path, local: Path) -> tuple[str, ...]:
    root, inside = Path(os.path.normpath(volumes)), Path(os.path.normpath(local))
    return inside.relative_to(root).parts if root in inside.parents else ()


def missing_volume_texts(names: tuple[str, ...]) -> tuple[str, str]:
    """Return the error and the next step for a write into a volume that does not exist."""
    path = "/".join(("/Volumes", *names))
    mount = "[tool.lakeward.mounts] in pyproject.toml, gives it the files of a local folder."
    if len(names) < _PARTS:
        message = f"No volume is below {path}: files are written into volumes that exist."
        create, mounted = "`CREATE VOLUME catalog.schema.name` creates one", f"{path}/…"
    else:
        shown = ".".join(f"`{each}`" for each in names)
        listed = "Please use 'SHOW VOLUMES' to list available volumes."
        message = f"[UC_VOLUME_NOT_FOUND] Volume {shown} does not exist. {listed} SQLSTATE: 42704"
        create, mounted = f"`CREATE VOLUME {'.'.join(names)}` creates it", path
    return message, f"{create}; `--mount {mounted}=FOLDER`, or {mount}"
