"""The stored schema versions of a schema location (AL-2.4)."""

from __future__ import annotations

import json
from pathlib import Path

from pyspark.sql.types import StructType

from lakeward.atomic_files import atomic_create
from lakeward.errors import CloudFilesError

_HEAD = "v1"
SchemaVersion = tuple[StructType, StructType]


class SchemaStore:
    """The schema versions of one location, with data and partition columns.

    `<schemaLocation>/_schemas/<n>` holds a version; the highest number is current (AL-2.4). Its file is a
    version line and one JSON object, so that users can read, compare and edit it (assumed).
    """

    def __init__(self, location: str) -> None:
        if "://" in location:
            raise CloudFilesError(
                "CF_UNSUPPORTED_SCHEMA_LOCATION",
                f"cloudFiles.schemaLocation is {location}, which is not on a local disk.",
                next_step="Use a local or mounted directory.",
            )
        self._folder = Path(location) / "_schemas"
        self._seen: int | None = None

    def numbers(self) -> list[int]:
        """Return existing versions, oldest first."""
        if not self._folder.is_dir():
            return []
        return sorted(int(entry.name) for entry in self._folder.iterdir() if entry.name.isdigit())

    def latest(self) -> SchemaVersion | None:
        """Return the latest version, None before the first; raise CF_INVALID_STORED_SCHEMA."""
        self._seen = self._last_number()
        if self._seen < 0:
            return None
        path = self._folder / str(self._seen)
        try:
            head, body = path.read_text("utf-8").split("\n", 1)
            kept = json.loads(body)
            if head != _HEAD:
                raise ValueError(head)
            return (
                StructType.fromJson(json.loads(kept["dataSchemaJson"])),
                StructType.fromJson(json.loads(kept["partitionSchemaJson"])),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise CloudFilesError(
                "CF_INVALID_STORED_SCHEMA",
                f"The schema version {path} is invalid: {error}.",
                next_step="Delete the file to restore the previous version, or the directory to infer again.",
            ) from None

    def add(self, version: SchemaVersion) -> bool:
        """Add the version after the one that `latest` has returned, atomically.

        Returns False if another writer was first: its version is what the next one must grow from.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        number = (self._last_number() if self._seen is None else self._seen) + 1
        data, partitions = version
        body = {"dataSchemaJson": data.json(), "partitionSchemaJson": partitions.json()}
        text = f"{_HEAD}\n{json.dumps(body, ensure_ascii=False)}\n"
        added = atomic_create(self._folder / str(number), text, synced=True)
        if added and self._seen is not None:
            self._seen = number
        return added

    def _last_number(self) -> int:
        return max(self.numbers(), default=-1)
