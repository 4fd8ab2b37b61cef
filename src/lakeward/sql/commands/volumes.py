"""Volumes are folders: CREATE, DROP, DESCRIBE, SHOW and LIST."""

from __future__ import annotations

import shutil
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.session import PathMap
from lakeward.sql.commands.place import Place, matches, place, read_note, result, write_note

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["create", "describe", "drop", "list_files", "show"]


def _folder(here: Place, volume: tuple[str, ...]) -> Path:
    return here.settings.volumes.joinpath(*volume)


def create(
    spark: SparkSession, *, volume: list[str], if_not_exists: bool, location: str | None, comment: str | None
) -> dict[str, Any]:
    """A folder for files; an external one is another folder under the volume's path."""
    here = place(spark)
    name = here.full(volume)
    here.require_schema(*name[:2])
    folder = _folder(here, name)
    if folder.exists():
        if if_not_exists:
            return {}
        raise SqlError(
            "VOLUME_ALREADY_EXISTS",
            f"Cannot create volume `{'`.`'.join(name)}` because it already exists.",
            sql_state="42000",
            next_step="Choose a different name, drop the existing volume, or add IF NOT EXISTS.",
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    if location is None:
        folder.mkdir()
    else:
        there = Path(PathMap.of(here.settings).local(location) or location.removeprefix("file:"))
        there.mkdir(parents=True, exist_ok=True)
        folder.symlink_to(there, target_is_directory=True)
    about = {"owner": here.settings.user, "comment": comment, "location": location}
    write_note(here.note("VOLUME", name), about)
    return {}


def _require(here: Place, volume: list[str]) -> tuple[str, ...]:
    name = here.full(volume)
    here.require_schema(*name[:2])
    if not _folder(here, name).is_dir():
        raise SqlError(
            "VOLUME_NOT_FOUND",
            f"The volume `{'`.`'.join(name)}` cannot be found.",
            sql_state="42704",
            next_step=f"SHOW VOLUMES IN {name[0]}.{name[1]} tells which there are.",
        )
    return name


def drop(spark: SparkSession, *, volume: list[str], if_exists: bool) -> dict[str, Any]:
    """Remove a volume and its files; an external one leaves its files."""
    here = place(spark)
    if if_exists and not _folder(here, here.full(volume)).is_dir():
        return {}
    name = _require(here, volume)
    folder = _folder(here, name)
    if folder.is_symlink():
        folder.unlink()
    else:
        aside = folder.with_name(f".dropped-{uuid.uuid4()}")
        folder.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)
    here.note("VOLUME", name).unlink(missing_ok=True)
    return {}


def describe(spark: SparkSession, *, volume: list[str]) -> dict[str, Any]:
    """One row about a volume."""
    here = place(spark)
    name = _require(here, volume)
    about = read_note(here.note("VOLUME", name))
    external = about.get("location")
    row = [
        name[2],
        name[0],
        name[1],
        about.get("owner") or here.settings.user,
        external or _folder(here, name).as_uri(),
        "EXTERNAL" if external else "MANAGED",
        about.get("comment") or "",
    ]
    columns = ("name", "catalog", "database", "owner", "storageLocation", "volumeType", "comment")
    return result(", ".join(f"{column} STRING" for column in columns), [row])


def show(spark: SparkSession, *, schema: list[str] | None, like: str | None) -> dict[str, Any]:
    """The volumes of a schema."""
    here = place(spark)
    catalog, database = here.full(schema or [], 2) if schema else (here.catalog, here.schema)
    here.require_schema(catalog, database)
    folder = here.settings.volumes / catalog / database
    found = (
        sorted(p.name for p in folder.iterdir() if p.is_dir() and p.name[0] != ".") if folder.is_dir() else []
    )
    return result("database STRING, volume_name STRING", [[database, n] for n in found if matches(like, n)])


def list_files(spark: SparkSession, *, path: str, limit: int | None) -> dict[str, Any]:
    """The files and folders in a folder."""
    here = place(spark)
    folder = Path(PathMap.of(here.settings).local(path) or path.removeprefix("file:"))
    if not folder.exists():
        raise SqlError("PATH_NOT_FOUND", f"Path does not exist: {path}.", parameters={"path": path})
    found = sorted(folder.iterdir()) if folder.is_dir() else [folder]
    rows = []
    for entry in found[:limit]:
        stat = entry.stat()
        is_folder = entry.is_dir()
        shown = f"{path.rstrip('/')}/{entry.name}" if folder.is_dir() else path
        changed = datetime.fromtimestamp(stat.st_mtime, timezone.utc)
        rows.append(
            [
                f"{shown}/" if is_folder else shown,
                f"{entry.name}/" if is_folder else entry.name,
                0 if is_folder else stat.st_size,
                int(changed.timestamp() * 1_000_000),
            ]
        )
    return result("path STRING, name STRING, size BIGINT, modification_time TIMESTAMP", rows)
