"""A few rows of a table, read from its files: what tags, masks and row filters protect is left out.

Rows are read when the report is written, without Spark. No query runs, then or when the page is opened.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec

from lakeward.dbutils import redact
from lakeward.delta_log import DataFile, TableState, read_table
from lakeward.errors import LakewardError
from lakeward.object_metadata import metadata_file, read_metadata

MAX_ROWS = 5
MAX_COLUMNS = 40
_MAX_TEXT = 80
_MAX_TAGS = 200
_MAX_LOG_BYTES = 8 * 2**20
_MAX_FILE_BYTES = 2**30
PROTECTING_WORDS = frozenset(
    {
        "pii", "phi", "pci", "gdpr", "hipaa", "ccpa", "personal", "sensitive", "confidential", "restricted",
        "secret", "private",
    }
)  # fmt: skip
_NEGATIONS = frozenset({"false", "no", "none", "0", "off", "public"})


@dataclass(frozen=True)
class Sample:
    """Rows as texts; `hidden` gives the reason by column, `note` why there are no rows at all."""

    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str | None]] = ()
    hidden: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the values that the page shows."""
        if self.note:
            return {"note": self.note}
        return {
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "hidden": dict(self.hidden),
        }


def protecting_tag(tags: Mapping[str, Any]) -> str | None:
    """Return the first tag that marks data as personal or confidential.

    A tag protects if a word of its key or value is one of a fixed list, or if its key is one of Unity
    Catalog's data classification (`class.email_address`); a value such as `false` lifts it.

    >>> protecting_tag({"unit": "km", "PII": ""}), protecting_tag({"pii": "false"})
    ('PII', None)
    >>> protecting_tag({"data_class": "Highly-Confidential"}), protecting_tag({"class.name": ""})
    ('data_class', 'class.name')
    """
    for key, value in tags.items():
        words = set(re.findall(r"[a-z0-9]+", f"{key} {value}".lower()))
        if str(value).strip().lower() in _NEGATIONS:
            continue
        if words & PROTECTING_WORDS or str(key).lower().startswith("class."):
            return str(key)
    return None


def read_sample(warehouse: Path, name: str) -> Sample | None:
    """Return the first rows of a table; None for what is no Delta table of the warehouse.

    Args:
        warehouse: Folder of the catalogs.
        name: Catalog, schema and name, as the event log has them.
    """
    parts = name.lower().split(".")
    folder = warehouse.joinpath(*parts)
    if len(parts) != 3 or not all(parts) or not (folder / "_delta_log").is_dir():
        return None
    try:
        facts = _Protection.of(warehouse, parts)
        if facts.note:
            return Sample(note=facts.note)
        if _log_bytes(folder) > _MAX_LOG_BYTES:
            return Sample(note="No rows are shown: the log of the table is larger than 8 MB.")
        state = read_table(folder)
        facts = facts.with_policies(parts, [name for name, _ in state.columns])
        return Sample(note=facts.note) if facts.note else _sample(state, facts)
    except LakewardError as error:
        return Sample(note=f"No rows are shown: {error}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, msgspec.MsgspecError) as error:
        return Sample(note=f"No rows are shown: a file of the table cannot be read ({type(error).__name__}).")


def read_tags(warehouse: Path, name: str) -> tuple[str, dict[str, str]]:
    """Return the tags of a table as text, and those of its columns by column in lower case."""
    parts = name.lower().split(".")
    if len(parts) != 3 or not all(parts):
        return "", {}
    try:
        about = read_metadata(metadata_file(warehouse, "TABLE", parts))
        columns = about.get("column_tags") or {}
        return _tag_text(about.get("tags") or {}), {
            str(column).lower(): _tag_text(tags) for column, tags in columns.items() if tags
        }
    except (LakewardError, TypeError, AttributeError):
        return "", {}


def _tag_text(tags: Mapping[str, Any]) -> str:
    """Return tags as text.

    >>> _tag_text({"pii": "", "unit": "km"})
    'pii, unit = km'
    """
    text = ", ".join(f"{key} = {value}" if value else str(key) for key, value in tags.items())
    return text if len(text) <= _MAX_TAGS else text[: _MAX_TAGS - 1] + "…"


@dataclass(frozen=True)
class _Protection:
    """Why columns, or all rows, are not shown."""

    columns: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    levels: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, warehouse: Path, parts: Sequence[str]) -> _Protection:
        """Read tags and policies of the table, and the tags that it inherits.

        Raises LakewardError for a damaged file, which may protect rows.
        """
        catalog, schema, _ = parts
        about = read_metadata(metadata_file(warehouse, "TABLE", parts))
        owners = {
            "catalog": read_metadata(metadata_file(warehouse, "CATALOG", [catalog])),
            "schema": read_metadata(metadata_file(warehouse, "SCHEMA", [catalog, schema])),
            "table": about,
        }
        for kind, metadata in owners.items():
            tag = protecting_tag(metadata.get("tags") or {})
            if tag is not None:
                return cls(note=f"No rows are shown: the {kind} has the tag {tag}.")
        if about.get("row_filter"):
            return cls(note="No rows are shown: the table has a row filter.")
        found = {str(column).lower(): "hidden: mask" for column in about.get("masks") or {}}
        for column, tags in (about.get("column_tags") or {}).items():
            tag = protecting_tag(tags or {})
            if tag is not None:
                found[str(column).lower()] = f"hidden: tag {tag}"
        return cls(found, levels=[*owners.values()])

    def with_policies(self, name: Sequence[str], columns: Iterable[str]) -> _Protection:
        """Add what policies of the catalog, the schema and the table protect from any reader."""
        if not any(level.get("policies") for level in self.levels):
            return self
        from lakeward.sql import protection_of

        is_filtered, masked = protection_of(name, self.levels, columns)
        hidden = dict.fromkeys((column.lower() for column in masked), "hidden: policy")
        note = "No rows are shown: a policy filters the rows of the table." if is_filtered else ""
        return replace(self, columns={**hidden, **self.columns}, note=note)


def _log_bytes(folder: Path) -> int:
    return sum(each.stat().st_size for each in (folder / "_delta_log").iterdir() if each.is_file())


def _sample(state: TableState, protection: _Protection) -> Sample:
    lost = set(protection.columns) - {name.lower() for name, _ in state.columns}
    if lost:
        # Tags and masks keep the name that the column had.
        return Sample(note=f"No rows are shown: the protected column {min(lost)} was renamed or dropped.")
    # A file with a deletion vector also holds deleted rows.
    whole = [each for each in state.files if not each.deleted_rows and each.size <= _MAX_FILE_BYTES]
    if state.files and not whole:
        return Sample(note="No rows are shown: every file of the table also holds deleted rows.")
    fields = state.columns[:MAX_COLUMNS]
    physical = {logical: name for name, logical in state.logical_names.items()}
    reasons = {
        name: protection.columns.get(name.lower())
        or _unreadable(kind, is_renamed=physical.get(name, name) != name)
        for name, kind in fields
    }
    hidden = {name: reason for name, reason in reasons.items() if reason}
    shown = [name for name, _ in fields if name not in hidden]
    rows: list[list[str | None]] = []
    for file in reversed(whole):
        for values in _rows(state, file, [physical[name] for name in shown], MAX_ROWS - len(rows)):
            row = dict(zip(shown, values, strict=True))
            rows.append([None if name in hidden else _text(row[name]) for name, _ in fields])
        if len(rows) >= MAX_ROWS:
            break
    return Sample([name for name, _ in fields], rows, hidden)


def _unreadable(kind: object, *, is_renamed: bool) -> str:
    """Return why the values of a column cannot be read from the files; empty for those that can."""
    if kind == "variant":
        return "not shown: variant"
    return "not shown: nested" if isinstance(kind, dict) and is_renamed else ""


def _rows(state: TableState, file: DataFile, columns: Sequence[str], most: int) -> Iterator[list[Any]]:
    import pyarrow.parquet as pq

    path = (state.folder / unquote(file.path)).resolve()
    if not path.is_relative_to(state.folder.resolve()):
        raise ValueError("a file of the table lies outside its folder")
    partition = dict(file.partition)
    # Nanoseconds, as Spark's INT96 has them, would import pandas.
    with pq.ParquetFile(path, coerce_int96_timestamp_unit="us") as parquet:
        known = set(parquet.schema_arrow.names)
        present = [name for name in columns if name in known]
        if not present:
            yield from (
                [partition.get(name) for name in columns] for _ in range(min(most, parquet.metadata.num_rows))
            )
            return
        for batch in parquet.iter_batches(batch_size=most, columns=present):
            for row in batch.to_pylist():
                yield [partition.get(name, row.get(name)) for name in columns]
            return


def _text(value: object) -> str | None:
    """Return a value as the page shows it: short, and without the secrets of this process.

    >>> _text({"a": [1, None]}), _text("x" * 100) == "x" * 79 + "…"
    ('{"a": [1, null]}', True)
    """
    if value is None:
        return None
    if isinstance(value, bytes):
        text = f"{len(value)} bytes"
    elif isinstance(value, datetime):
        # Both forms of TIMESTAMP are in UTC.
        text = str(value.replace(tzinfo=None))
    elif isinstance(value, (dict, list, tuple)):
        text = json.dumps(value, ensure_ascii=False, default=str)
    else:
        text = str(value)
    text = redact(text)
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
