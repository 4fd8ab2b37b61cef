"""The folders of `/Volumes`.

Unity Catalog stores names in lower case and compares them without regard to case.
Code may have written `/Volumes/Main/Sales/Raw`: it is the folder of the volume `main.sales.raw`.
"""

from __future__ import annotations

from pathlib import Path


def container_folders(volumes: Path, *parts: str) -> list[Path]:
    """Return the folders of a catalog or schema, or the one of all volumes; several differ in case."""
    found = [volumes]
    for part in parts:
        found = [each for folder in found if folder.is_dir() for each in folder.iterdir()]
        found = [each for each in found if each.name.lower() == part.lower()]
    return [folder for folder in found if folder.is_dir() and not folder.is_symlink()]


def names_in(volumes: Path, *parts: str) -> set[str]:
    """Return the names of the catalogs, schemas or volumes in a container, in lower case."""
    return {
        each.name.lower()
        for folder in container_folders(volumes, *parts)
        for each in folder.iterdir()
        if each.is_dir() and not each.name.startswith(".")
    }


def volume_folder(volumes: Path, catalog: str, schema: str, name: str) -> Path:
    """Return the folder of a volume; of one that does not exist, where it will be."""
    wanted = volumes / catalog.lower() / schema.lower() / name.lower()
    if wanted.is_dir():
        return wanted
    inside = (each for folder in container_folders(volumes, catalog, schema) for each in folder.iterdir())
    return next((each for each in inside if each.name.lower() == name.lower() and each.is_dir()), wanted)
