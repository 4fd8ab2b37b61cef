"""Databricks notebooks: Python and SQL source files and `.ipynb`, as cells with their places, and their runs.

Importing this room starts nothing and does not import pyspark.
"""

from lakeward.notebooks.cells import Cell, LineMagic, Notebook, line_magics
from lakeward.notebooks.document import as_markdown
from lakeward.notebooks.exports import PYTHON_MARK, SQL_MARK, has_separators, parse_export
from lakeward.notebooks.including import Inclusion, included, inclusion
from lakeward.notebooks.ipynb import parse_ipynb
from lakeward.notebooks.magics import MAGICS, WITHOUT_EFFECT
from lakeward.notebooks.opening import opened
from lakeward.notebooks.outcome import NotebookRun
from lakeward.notebooks.parsing import SUFFIXES, parse
from lakeward.notebooks.python_code import MAGIC, Compiled, Compiler
from lakeward.notebooks.requirements import check_installed
from lakeward.notebooks.running import run
from lakeward.notebooks.writing import write

__all__ = [
    "MAGIC",
    "MAGICS",
    "PYTHON_MARK",
    "SQL_MARK",
    "SUFFIXES",
    "WITHOUT_EFFECT",
    "Cell",
    "Compiled",
    "Compiler",
    "Inclusion",
    "LineMagic",
    "Notebook",
    "NotebookRun",
    "as_markdown",
    "check_installed",
    "has_separators",
    "included",
    "inclusion",
    "line_magics",
    "opened",
    "parse",
    "parse_export",
    "parse_ipynb",
    "run",
    "write",
]
