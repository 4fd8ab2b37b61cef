"""Volumes, which are folders: CREATE, DROP, DESCRIBE, SHOW and LIST."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.session import PathMap
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, in_area
from lakeward.sql.constructs.catalogs import schema_and_pattern
from lakeward.sql.session_context import SessionContext, current_context, matches_pattern, remove_folder
from lakeward.sql.token_cursor import TokenCursor, Unmatched
from lakeward.volume_folders import volume_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _folder(context: SessionContext, volume: tuple[str, ...]) -> Path:
    catalog, schema, name = volume
    return volume_folder(context.settings.volumes, catalog, schema, name)


def _require_volume(context: SessionContext, volume: list[str]) -> tuple[str, ...]:
    """Return the full name of an existing volume; raises SqlError if it does not exist."""
    name = context.qualify(volume)
    context.require_schema(*name[:2])
    context.require_volume(*name)
    return name


@dataclass(frozen=True)
class CreateVolume(Command):
    """Creates a folder for files; an external volume is a link to another folder."""

    volume: list[str]
    if_not_exists: bool
    location: str | None
    comment: str | None

    def run(self, spark: SparkSession) -> None:
        context = current_context(spark)
        name = context.qualify(self.volume)
        context.require_changeable_schema(name[0], name[1], "User does not have CREATE VOLUME on")
        folder = _folder(context, name)
        if folder.exists():
            if self.if_not_exists:
                return
            raise _already_exists(
                "create", name, "Choose a different name, drop the existing volume, or add IF NOT EXISTS."
            )
        folder.parent.mkdir(parents=True, exist_ok=True)
        if self.location is None:
            folder.mkdir()
        else:
            target = _local_path(context, self.location)
            target.mkdir(parents=True, exist_ok=True)
            folder.symlink_to(target, target_is_directory=True)
        context.update_metadata(
            "VOLUME", name, owner=context.settings.user, comment=self.comment, location=self.location
        )


def _already_exists(action: str, volume: tuple[str, ...], next_step: str) -> SqlError:
    return SqlError(
        "VOLUME_ALREADY_EXISTS",
        f"Cannot {action} volume `{'`.`'.join(volume)}` because it already exists.",
        sql_state="42000",
        next_step=next_step,
    )


def _local_path(context: SessionContext, path: str) -> Path:
    """Return the folder of this machine for a path; raises InvalidPathError for storage without a mount."""
    return Path(PathMap.of(context.settings).require_local(path))


def _create_volume(cursor: TokenCursor) -> CreateVolume:
    cursor.need("CREATE")
    external = cursor.words("EXTERNAL")
    cursor.need("VOLUME")
    if_not_exists = cursor.words("IF", "NOT", "EXISTS")
    volume = cursor.name(3)
    location = comment = None
    while cursor.next is not None:
        if cursor.words("COMMENT"):
            comment = cursor.string()
        elif external and cursor.words("LOCATION"):
            location = cursor.string()
        else:
            raise Unmatched
    if external and location is None:
        raise Unmatched
    return CreateVolume(volume, if_not_exists, location, comment)


@dataclass(frozen=True)
class RenameVolume(Command):
    """Renames a volume within its schema; files, owner, comment and tags stay."""

    volume: list[str]
    new_name: list[str]

    def run(self, spark: SparkSession) -> None:
        context = current_context(spark)
        name, new_name = _require_volume(context, self.volume), context.qualify(self.new_name)
        if new_name[:2] != name[:2]:
            raise SqlError(
                "UNSUPPORTED_SQL",
                f"The volume `{'`.`'.join(name)}` cannot be moved to another schema.",
                sql_state="0A000",
                next_step="Create a volume there, copy the files, and drop this one.",
            )
        if _folder(context, new_name).exists():
            raise _already_exists("rename", new_name, "Choose a different name, or drop the existing volume.")
        # The files last: a kill must not leave them without their owner, grants and tags.
        about, new_about = (context.metadata_file("VOLUME", each) for each in (name, new_name))
        new_about.unlink(missing_ok=True)
        if about.exists():
            shutil.copyfile(about, new_about)
        _folder(context, name).rename(_folder(context, new_name))
        about.unlink(missing_ok=True)


def _rename_volume(cursor: TokenCursor) -> RenameVolume:
    cursor.need("ALTER", "VOLUME")
    volume = cursor.name(3)
    cursor.need("RENAME", "TO")
    new_name = cursor.name(3)
    cursor.end()
    # A name of one part is in the volume's schema, which need not be the current one.
    return RenameVolume(volume, [*volume[:-1], *new_name] if len(new_name) == 1 else new_name)


@dataclass(frozen=True)
class DropVolume(Command):
    """Removes a volume and its files; the files of an external volume stay."""

    volume: list[str]
    if_exists: bool

    def run(self, spark: SparkSession) -> None:
        context = current_context(spark)
        if self.if_exists and not _folder(context, context.qualify(self.volume)).is_dir():
            return
        name = _require_volume(context, self.volume)
        remove_folder(_folder(context, name))
        context.metadata_file("VOLUME", name).unlink(missing_ok=True)


def _drop_volume(cursor: TokenCursor) -> DropVolume:
    cursor.need("DROP", "VOLUME")
    if_exists = cursor.words("IF", "EXISTS")
    volume = cursor.name(3)
    cursor.end()
    return DropVolume(volume, if_exists)


@dataclass(frozen=True)
class DescribeVolume(Command):
    """Shows one row about a volume."""

    volume: list[str]

    def run(self, spark: SparkSession) -> Rows:
        context = current_context(spark)
        name = _require_volume(context, self.volume)
        metadata = context.metadata("VOLUME", name)
        location = metadata.get("location")
        values = {
            "name": name[2],
            "catalog": name[0],
            "database": name[1],
            "owner": metadata.get("owner") or context.settings.user,
            "storageLocation": location or _folder(context, name).as_uri(),
            "volumeType": "EXTERNAL" if location else "MANAGED",
            "comment": metadata.get("comment") or "",
        }
        return Rows(", ".join(f"{column} STRING" for column in values), [list(values.values())])


def _describe_volume(cursor: TokenCursor) -> DescribeVolume:
    cursor.one_of("DESCRIBE", "DESC")
    cursor.need("VOLUME")
    volume = cursor.name(3)
    cursor.end()
    return DescribeVolume(volume)


@dataclass(frozen=True)
class ShowVolumes(Command):
    """Lists the volumes of a schema, by default the current one."""

    schema: list[str] | None
    like: str | None

    def run(self, spark: SparkSession) -> Rows:
        context = current_context(spark)
        catalog, schema = context.listed_schema(self.schema)
        names = context.volumes(catalog, schema)
        rows = [[schema, name] for name in names if matches_pattern(self.like, name)]
        return Rows("database STRING, volume_name STRING", rows)


def _show_volumes(cursor: TokenCursor) -> ShowVolumes:
    cursor.need("SHOW", "VOLUMES")
    return ShowVolumes(*schema_and_pattern(cursor))


@dataclass(frozen=True)
class ListFiles(Command):
    """Lists the files and folders of a folder."""

    path: str
    limit: int | None

    def run(self, spark: SparkSession) -> Rows:
        folder = _local_path(current_context(spark), self.path)
        if not folder.exists():
            raise SqlError(
                "PATH_NOT_FOUND", f"Path does not exist: {self.path}.", parameters={"path": self.path}
            )
        entries = sorted(folder.iterdir()) if folder.is_dir() else [folder]
        rows = [self._row(entry, in_folder=folder.is_dir()) for entry in entries[: self.limit]]
        return Rows("path STRING, name STRING, size BIGINT, modification_time TIMESTAMP", rows)

    def _row(self, entry: Path, *, in_folder: bool) -> list[Any]:
        stat = entry.stat()
        path = f"{self.path.rstrip('/')}/{entry.name}" if in_folder else self.path
        modified = datetime.fromtimestamp(stat.st_mtime, timezone.utc)
        slash, size = ("/", 0) if entry.is_dir() else ("", stat.st_size)
        return [f"{path}{slash}", f"{entry.name}{slash}", size, int(modified.timestamp() * 1_000_000)]


def _list_files(cursor: TokenCursor) -> ListFiles:
    cursor.need("LIST")
    path = cursor.string()
    limit = cursor.integer() if cursor.words("LIMIT") else None
    cursor.end()
    return ListFiles(path, limit)


CONSTRUCTS = in_area(
    "Volumes",
    Construct(
        name="CREATE VOLUME",
        example="CREATE VOLUME IF NOT EXISTS main.default.landing COMMENT 'files'",
        note="the LOCATION of an EXTERNAL volume is a folder of this machine, or storage that is mounted",
        statement=_create_volume,
    ),
    Construct(
        name="ALTER VOLUME … RENAME TO",
        example="ALTER VOLUME main.default.landing RENAME TO archive",
        note="within its schema",
        statement=_rename_volume,
    ),
    Construct(
        name="DROP VOLUME",
        example="DROP VOLUME IF EXISTS main.default.landing",
        statement=_drop_volume,
    ),
    Construct(
        name="DESCRIBE VOLUME",
        example="DESCRIBE VOLUME main.default.landing",
        starts=("DESCRIBE", "DESC"),
        statement=_describe_volume,
        trigger=BEGINNING + r"desc(?:ribe)?\s+volume\s+[\w`]",
    ),
    Construct(
        name="SHOW VOLUMES",
        example="SHOW VOLUMES IN main.default",
        statement=_show_volumes,
    ),
    Construct(
        name="LIST",
        example="LIST '/Volumes/main/default/landing' LIMIT 10",
        statement=_list_files,
    ),
)
