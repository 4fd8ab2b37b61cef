"""From the bytes of a file to a notebook, by its form."""

from __future__ import annotations

from lakeward.notebooks.cells import Notebook
from lakeward.notebooks.exports import PYTHON_MARK, SQL_MARK, parse_export
from lakeward.notebooks.ipynb import parse_ipynb

__all__ = ["SUFFIXES", "parse"]

SUFFIXES = (".py", ".sql", ".ipynb")
"""The forms that a notebook's file may have."""

_BOM = b"\xef\xbb\xbf"


def parse(content: bytes, suffix: str) -> Notebook | None:
    """The notebook that a file with `suffix` holds; None for a Python or SQL file that is none.

    Raises ValueError for an `.ipynb` that is none, and for text that is not UTF-8.

    >>> [c.source for c in parse(b"-- Databricks notebook source\\nselect 1", ".sql").cells]
    ['-- Databricks notebook source\\nselect 1']
    """
    if suffix == ".ipynb":
        return parse_ipynb(content)
    content = content.removeprefix(_BOM)
    for mark, of, language in ((PYTHON_MARK, ".py", "python"), (SQL_MARK, ".sql", "sql")):
        if suffix == of and content.startswith(mark):
            return parse_export(content.decode("utf-8").replace("\r\n", "\n"), language)
    return None
