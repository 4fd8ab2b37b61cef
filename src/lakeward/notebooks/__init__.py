"""Databricks notebooks: Python and SQL source files and `.ipynb`, as cells with their places.

Importing this room starts nothing and does not import pyspark.
"""

from lakeward.notebooks.cells import Cell, LineMagic, Notebook, line_magics
from lakeward.notebooks.exports import PYTHON_MARK, SQL_MARK, has_separators, parse_export
from lakeward.notebooks.ipynb import parse_ipynb
from lakeward.notebooks.parsing import SUFFIXES, parse

__all__ = [
    "PYTHON_MARK",
    "SQL_MARK",
    "SUFFIXES",
    "Cell",
    "LineMagic",
    "Notebook",
    "has_separators",
    "line_magics",
    "parse",
    "parse_export",
    "parse_ipynb",
]
