"""Schema versions in `<schemaLocation>/_schemas/<n>`; the highest number is current (AL-2.4).

A version file is a version line and one JSON object, so that users can read, compare and edit it (assumed).
"""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path

from pyspark.sql.types import StructType

from lakeward.errors import CloudFilesError

_HEAD = "v1"
SchemaVersion = tuple[StructType, StructType]


class SchemaStore:
    """The schema versions of one location, with data and partition columns."""

    def __init__(self, location: str) -> None:
        if "://" in location:
            raise CloudFilesError(
                "CF_UNSUPPORTED_SCHEMA_LOCATION",
                f"cloudFiles.schemaLocation is {location}, which is not on a local disk.",
                next_step="Use a local or mounted directory.",
            )
        self._folder = Path(location) / "_schemas"

    def numbers(self) -> list[int]:
        """Return existing versions, oldest first."""
        if not self._folder.is_dir():
            return []
        return sorted(int(entry.name) for entry in self._folder.iterdir() if entry.name.isdigit())

    def latest(self) -> SchemaVersion | None:
        """Return the latest version, None before the first; raise CF_INVALID_STORED_SCHEMA."""
        numbers = self.numbers()
        if not numbers:
            return None
        path = self._folder / str(numbers[-1])
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
        """Add the next version atomically; return False if another writer was first."""
        self._folder.mkdir(parents=True, exist_ok=True)
        numbers = self.numbers()
        target = self._folder / str(numbers[-1] + 1 if numbers else 0)
        draft = self._folder / f".{uuid.uuid4().hex}.tmp"
        data, partitions = version
        body = {"dataSchemaJson": data.json(), "partitionSchemaJson": partitions.json()}
        with draft.open("w", encoding="utf-8") as stream:
            stream.write(f"{_HEAD}\n{json.dumps(body, ensure_ascii=False)}\n")
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(draft, target)
        except FileExistsError:
            return False
        finally:
            draft.unlink()
        return True
