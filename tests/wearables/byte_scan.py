"""Looks for personal values in every file of a folder, whether a table still refers to the file or not."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["Canary", "scan"]


class Canary:
    """Values of people: texts that no other person has, and numbers that identify.

    Numbers in `cells` are looked for in cells of tables alone: sizes of files may equal short ones.
    """

    def __init__(
        self, texts: tuple[str, ...], numbers: tuple[int, ...], *, cells: tuple[int, ...] = ()
    ) -> None:
        self._numbers = frozenset(numbers + cells)
        bounded = [rf"(?<![0-9A-Fa-f.]){number}(?![0-9A-Fa-f.])".encode() for number in numbers]
        plain = [re.escape(form) for text in texts for form in _forms(text.encode())]
        encoded = [re.escape(form) for number in numbers for form in _forms(f": {number},".encode())[1:]]
        self._pattern = re.compile(b"|".join([*plain, *encoded, *bounded]))

    def is_in(self, content: bytes) -> bool:
        """Tell whether a value is in text, plain or in base64."""
        return self._pattern.search(content) is not None

    def is_cell(self, cell: Any) -> bool:
        """Tell whether a cell of a table, nested or not, has a value."""
        if isinstance(cell, dict):
            return any(map(self.is_cell, cell.values()))
        if isinstance(cell, list | tuple):
            return any(map(self.is_cell, cell))
        if isinstance(cell, int):
            return cell in self._numbers
        content = cell.encode() if isinstance(cell, str) else cell
        return isinstance(content, bytes) and self.is_in(content)


def _forms(text: bytes) -> list[bytes]:
    """The text, and what base64 makes of it at each of the three positions."""
    forms = [text]
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + text)
        # Characters that other bytes have a share in are left out.
        forms.append(whole[(0, 2, 3)[shift] : 8 * (shift + len(text)) // 6])
    return forms


def scan(folder: Path, canary: Canary) -> list[str]:
    """The files below `folder` that have a value of `canary`, as names relative to it."""
    return sorted({str(file.relative_to(folder)) for file in _files(folder) if _has(file, canary)})


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _has(file: Path, canary: Canary) -> bool:
    content = file.read_bytes()
    if content[:4] == b"PAR1":
        table = pq.ParquetFile(file)
        columns = (table.read_row_group(group).columns for group in range(table.num_row_groups))
        return canary.is_in(str(table.metadata.metadata).encode()) or any(
            canary.is_cell(cell) for group in columns for column in group for cell in _distinct(column)
        )
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    return canary.is_in(content)


def _distinct(column: Any) -> list[Any]:
    nested = pa.types.is_nested(column.type)
    return list((column if nested else column.unique()).to_pylist())
