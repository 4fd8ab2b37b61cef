"""Dropped tables, which UNDROP takes back: the folder `.dropped` of their schema.

The record of a table is `KEY.json`; the files of a managed table are in the folder `KEY`. DROP TABLE writes
the same, and removes what has expired (`session/jvm/DroppedTables.java`); `tests/sql/test_undrop.py` compares
the two.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lakeward.atomic_files import atomic_write, read_json_object
from lakeward.object_metadata import OBJECTS

_FOLDER = ".dropped"
_KINDS = ("table", "table.about")
_NOT_KEPT = "hive_metastore"


@dataclass(frozen=True)
class DroppedFiles:
    """A dropped table: the fields of its record, and where the record is.

    `folder` is the name of its folder in the schema, `dropped` the time in milliseconds, and `objects` its
    definition and its metadata, by the name of their file. `restoring` marks an UNDROP that has begun. The
    definition of an `external` table names the folder of its files.
    """

    schema: Path
    key: str
    name: str
    folder: str
    dropped: int
    objects: Mapping[str, Any]
    restoring: bool = False
    external: bool = False

    @property
    def record(self) -> Path:
        """Return the file of the record."""
        return self.schema / _FOLDER / f"{self.key}.json"

    @property
    def data(self) -> Path:
        """Return the folder with the files of the dropped table."""
        return self.schema / _FOLDER / self.key

    @property
    def place(self) -> Path:
        """Return the folder of the table while it exists."""
        return self.schema / self.folder

    @property
    def is_whole(self) -> bool:
        """Return whether the table can be recovered: DROP and UNDROP may have been interrupted."""
        if self.external:
            # Until its definition is removed, the table is not dropped.
            return self.restoring or not self._is_there
        return self.data.is_dir() or (self.restoring and self.place.is_dir())

    @property
    def _is_there(self) -> bool:
        file = f"{self.name}.table.json"
        return file in self.objects and read_json_object(self.schema / OBJECTS / file) == self.objects[file]

    @property
    def definition(self) -> Mapping[str, Any]:
        """Return the definition of a table without a Delta log in the warehouse."""
        found: Mapping[str, Any] = self.objects.get(f"{self.name}.table.json", {})
        return found

    @property
    def about(self) -> Mapping[str, Any]:
        """Return the metadata of the table: owner, tags, grants."""
        return next((each for name, each in self.objects.items() if name.endswith(".about.json")), {})

    def write(self) -> None:
        """Write the record."""
        fields = asdict(self)
        for name in ("schema", "key"):
            del fields[name]
        self.record.parent.mkdir(exist_ok=True)
        atomic_write(self.record, json.dumps(fields))

    def restore(self) -> None:
        """Put the table back. A kill at any point leaves the table dropped, or a record that completes it.

        Raises FileNotFoundError if another process has restored or removed it.
        """
        replace(self, restoring=True).write()
        if self.external:
            pass
        elif self.data.is_dir():
            if self.place.is_dir():
                self.place.rmdir()
            self.data.rename(self.place)
        elif not self.place.is_dir():
            raise FileNotFoundError(self.data)
        for name, content in self.objects.items():
            # Primary and foreign keys are not recovered.
            kept = {key: value for key, value in content.items() if key != "keys"}
            file = self.schema / OBJECTS / name
            file.parent.mkdir(exist_ok=True)
            atomic_write(file, json.dumps(kept if name.endswith(".about.json") else content, indent=2))
        self.record.unlink()


def read_dropped(schema: Path) -> Iterator[DroppedFiles]:
    """Yield the tables of a schema that are dropped, or whose UNDROP was interrupted."""
    for file in (schema / _FOLDER).glob("[!.]*.json"):
        with suppress(OSError, ValueError, TypeError):
            table = DroppedFiles(schema, file.stem, **json.loads(file.read_text(encoding="utf-8")))
            if table.is_whole:
                yield table


def keep_dropped(schema: Path, name: str, *, external: bool = False) -> bool:
    """Move the files of a table away; its definition and metadata are in the record, and may be removed.

    Returns False, and does nothing, for a table without files, and for those of the Hive metastore. Of an
    external table the files stay.
    """
    place = schema / name
    if schema.parent.name == _NOT_KEPT or not (external or (place.is_dir() and not place.is_symlink())):
        return False
    files = [schema / OBJECTS / f"{name}.{kind}.json" for kind in _KINDS]
    objects = {file.name: json.loads(file.read_text(encoding="utf-8")) for file in files if file.is_file()}
    now = int(time.time() * 1000)
    dropped = DroppedFiles(schema, str(uuid.uuid4()), name, name, now, objects, external=external)
    dropped.write()
    if not external:
        place.rename(dropped.data)
    return True
