"""Notebooks as the pieces of Python and SQL that they hold, with the places of the pieces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lakeward.check.code.values import Text

__all__ = ["PYTHON_MARK", "SQL_MARK", "Cell", "cells_of", "magics_of"]

PYTHON_MARK = b"# Databricks notebook source"
SQL_MARK = b"-- Databricks notebook source"

_SEPARATOR = re.compile(r"^(#|--) COMMAND -+\s*$")
_MAGIC = re.compile(r"^(?:#|--) MAGIC ?")
_NAMED = re.compile(r"%%?(\w+)[ \t]*")


@dataclass(frozen=True)
class Cell:
    """One piece: Python source, SQL, or a magic by name with the text behind it."""

    language: str
    text: Text
    number: int = 0


def magics_of(source: str) -> Iterator[Cell]:
    """The magic cells of a notebook that is kept as a source file (`# MAGIC %sql`)."""
    lines = source.splitlines()
    at = 0
    while at < len(lines):
        mark = _MAGIC.match(lines[at])
        if mark is None:
            at += 1
            continue
        start = at
        while at < len(lines) and _MAGIC.match(lines[at]):
            at += 1
        body = [_MAGIC.sub("", line) for line in lines[start:at]]
        named = _NAMED.match(body[0])
        if named is not None:
            # The magic's own name is blanked out, so that columns stay what they are.
            body[0] = " " * named.end() + body[0][named.end() :]
            indent = mark.end()
            yield Cell(named[1].lower(), Text("\n".join(body), start + 1, indent + 1, True, indent))


def cells_of(content: bytes) -> Iterator[Cell]:
    """The code cells of an `.ipynb`. Raises ValueError for what is none."""
    try:
        notebook = json.loads(content)
        cells = notebook["cells"]
        kernel = notebook.get("metadata", {}).get("kernelspec", {}).get("language", "python")
        language = (
            notebook.get("metadata", {}).get("application/vnd.databricks.v1+notebook", {}).get("language")
            or kernel
        )
        pieces = [
            (number, "".join(cell.get("source") or ()))
            for number, cell in enumerate(cells, start=1)
            if cell.get("cell_type") == "code"
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"this is no notebook: {error!r}") from None
    for number, source in pieces:
        yield from _pieces(number, source, str(language).lower())


def _pieces(number: int, source: str, language: str) -> Iterator[Cell]:
    named = _NAMED.match(source)
    if named is not None and named[1] not in ("python", "py", "time", "timeit", "capture"):
        lines = source.count("\n")
        alone = named[1] in ("run", "pip", "conda") and lines
        if not alone:
            blank = " " * named.end() + source[named.end() :]
            yield Cell(named[1].lower(), Text(blank, 1, 1, True), number)
            return
    kept = []
    for line_number, line in enumerate(source.split("\n"), start=1):
        magic = _NAMED.match(line.lstrip())
        if magic is not None or line.lstrip().startswith("!"):
            if magic is not None and magic[1] not in ("python", "py"):
                yield Cell(magic[1].lower(), Text(line, line_number, 1), number)
            kept.append("")
        else:
            kept.append(line)
    yield Cell(language, Text("\n".join(kept), 1, 1, True), number)
