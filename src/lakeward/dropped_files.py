"""Where dropped managed tables are kept until UNDROP takes them back: the folder `.dropped` of their schema.

`KEY.json` has name, time, definition and metadata of a table, the folder `KEY` its files. DROP TABLE writes
the same (`session/jvm/DroppedTables.java`).
"""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import Any

from lakeward.atomic_files import atomic_write
from lakeward.object_metadata import OBJECTS

DROPPED = ".dropped"
"""The folder of a schema."""
_KINDS = ("table", "table.about")
_NOT_KEPT = "hive_metastore"


def keep_dropped(schema: Path, name: str) -> bool:
    """Move the files of a table away; its definition and metadata are in the record, and may be removed.

    Returns False, and does nothing, for a table without files, and for those of the Hive metastore.
    """
    place = schema / name
    if schema.parent.name == _NOT_KEPT or not place.is_dir() or place.is_symlink():
        return False
    objects: dict[str, Any] = {}
    for kind in _KINDS:
        file = schema / OBJECTS / f"{name}.{kind}.json"
        if file.is_file():
            objects[file.name] = json.loads(file.read_text(encoding="utf-8"))
    record = {"name": name, "folder": name, "dropped": int(time.time() * 1000), "objects": objects}
    file = schema / DROPPED / f"{uuid.uuid4()}.json"
    file.parent.mkdir(exist_ok=True)
    atomic_write(file, json.dumps(record))
    place.rename(file.with_suffix(""))
    return True
