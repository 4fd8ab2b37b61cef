"""The format of a seed file or folder, by its name and its first bytes. No Spark."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from lakeward.errors import SeedError

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".sql": "ddl",
    ".ddl": "ddl",
}
"""Endings of files, in small letters, and the kind of seed that they are; `.gz` may follow those of text."""

_LONGEST_LINE = 64 * 2**20

_HERE = "Paths on the command line start at the working directory, those of pyproject.toml at its folder."


def kind_of(path: Path) -> str:
    """Return the kind of seed that `path` is: `csv`, `tsv`, `json`, `parquet`, `delta` or `ddl`.

    Raises SeedError when nothing is there, or nothing that can be read.
    """
    if not path.exists():
        raise SeedError("SEED_FILE_NOT_FOUND", f"The seed {path} does not exist.", next_step=_HERE)
    if path.is_file():
        found = _kind(path)
        if found is None:
            raise _unknown(f"The seed {path} is not a file of a known kind.")
        return found
    if (path / "_delta_log").is_dir():
        return "delta"
    kinds = {kind for file in _files(path) if (kind := _kind(file)) not in (None, "ddl")}
    if len(kinds) != 1:
        several = ", ".join(sorted(map(str, kinds)))
        there = f"files of several kinds: {several}" if kinds else "no file of a known kind"
        raise _unknown(f"The folder {path} holds {there}.")
    return str(kinds.pop())


def require_ddl(file: Path) -> None:
    """Raise SeedError when no file of a schema is there."""
    if not file.is_file():
        raise SeedError("SEED_FILE_NOT_FOUND", f"The DDL {file} is not a file.", next_step=_HERE)


def _files(folder: Path) -> Iterator[Path]:
    # Names that begin with a dot or an underscore are markers, as in Spark.
    return (file for file in sorted(folder.rglob("*")) if file.is_file() and file.name[0] not in "._")


def _kind(file: Path) -> str | None:
    suffix = file.with_suffix("").suffix if file.suffix == ".gz" else file.suffix
    return FORMATS.get(suffix.lower())


def _unknown(message: str) -> SeedError:
    return SeedError(
        "SEED_FORMAT_UNKNOWN", message, next_step=f"Give a Delta table, or files {', '.join(FORMATS)}."
    )


def is_one_document(path: Path) -> bool:
    """Return whether a JSON file is one document rather than one a line."""
    file = path if path.is_file() else next(_files(path))
    opening: Any = gzip.open if file.suffix == ".gz" else open
    try:
        with opening(file, "rt", encoding="utf-8-sig") as lines:
            # A small compressed file can contain a line without end.
            first = next(
                (line for line in iter(partial(lines.readline, _LONGEST_LINE), "") if line.strip()), "{}"
            )
    except UnicodeDecodeError:
        raise SeedError(
            "SEED_SCHEMA_MISMATCH", f"The seed {file} is not UTF-8 text.", next_step="Save it as UTF-8."
        ) from None
    except (EOFError, gzip.BadGzipFile) as error:
        raise SeedError(
            "SEED_SCHEMA_MISMATCH", f"The seed {file} is damaged: {error}.", next_step="Write the file again."
        ) from None
    if first.lstrip().startswith("["):
        return True
    try:
        json.loads(first)
    except ValueError:
        return True
    return False
