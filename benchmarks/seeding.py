"""Checkpoints of streams that have read many files, made without reading them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from lakeward.autoloader.state.frames import MAGIC, FileEntry, encode_frame

__all__ = ["seed_ours", "seed_peer"]

_BATCH = 1000


def seed_ours(checkpoint: Path, source: Path, files: int) -> None:
    """The checkpoint of an Auto Loader stream after its first batch, with `files` files in its history."""
    log = checkpoint / "sources" / "0" / "files.log"
    with log.open("wb") as stream:
        stream.write(MAGIC)
        batch: list[FileEntry] = []
        first = 1
        for path, size, mtime in _history(source, files):
            batch.append(FileEntry(f"file:{path}", size, mtime))
            if len(batch) == _BATCH:
                stream.write(encode_frame(first, batch, assigned_at=1, committed=first - 1))
                first, batch = first + len(batch), []
    offsets = checkpoint / "offsets" / "0"
    _forget_checksum(offsets)
    offsets.write_text(re.sub(r'"seqNum":\s*\d+', f'"seqNum": {files}', offsets.read_text()))


def seed_peer(checkpoint: Path, source: Path, files: int) -> None:
    """The same of Spark's file stream: its log of files, a line each."""
    log = checkpoint / "sources" / "0" / "0"
    before = json.loads(log.read_text().split("\n")[1])["path"]
    prefix = before[: before.index(str(source))]
    _forget_checksum(log)
    with log.open("w") as stream:
        stream.write("v1")
        for path, _, mtime in _history(source, files):
            line = {"path": prefix + path, "timestamp": mtime // 1000, "batchId": 0}
            stream.write("\n" + json.dumps(line, separators=(",", ":")))


def _forget_checksum(file: Path) -> None:
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def _history(source: Path, files: int) -> Iterator[tuple[str, int, int]]:
    """The files there are, then names of files that are gone; a whole number of batches."""
    there = 0
    for folder in sorted(os.scandir(source), key=lambda entry: entry.name):
        for entry in os.scandir(folder.path):
            status = entry.stat()
            yield entry.path, status.st_size, status.st_mtime_ns // 1000
            there += 1
    for number in range(there, files):
        yield f"{source}/gone/{number:07}.json", 60, 1_700_000_000_000_000 + number
