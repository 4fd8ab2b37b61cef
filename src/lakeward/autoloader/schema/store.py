"""`<schemaLocation>/_schemas/<n>`: one file a version, the newest number counts (auto-loader.md §2.4).

Bodies are a version line and one JSON object, so that people can read, compare and edit them (assumed).
"""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path

from pyspark.sql.types import StructType

from lakeward.errors import CloudFilesError

__all__ = ["SchemaStore", "Version"]

_HEAD = "v1"
Version = tuple[StructType, StructType]


class SchemaStore:
    """The versions of one location; data columns and partition columns are kept apart."""

    def __init__(self, location: str) -> None:
        if "://" in location:
            raise CloudFilesError(
                "CF_UNSUPPORTED_SCHEMA_LOCATION",
                f"cloudFiles.schemaLocation is {location}, which is not on a local disk.",
                next_step="Use a local or mounted folder.",
            )
        self._folder = Path(location) / "_schemas"

    def numbers(self) -> list[int]:
        """The versions that exist, oldest first."""
        if not self._folder.is_dir():
            return []
        return sorted(int(entry.name) for entry in self._folder.iterdir() if entry.name.isdigit())

    def latest(self) -> Version | None:
        """The newest version, None before the first. Raises CF_INVALID_STORED_SCHEMA for a broken file."""
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
                f"The schema version {path} cannot be read: {error}.",
                next_step="Delete that file to go back to the version before, or the folder to infer again.",
            ) from None

    def add(self, version: Version) -> bool:
        """Add the next version, whole or not at all; False when another writer was first."""
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
