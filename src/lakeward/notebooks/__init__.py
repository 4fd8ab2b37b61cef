"""Databricks notebooks, from Python and SQL source files and `.ipynb`: parsing and execution.

Importing this package starts nothing and does not import pyspark.
"""

from lakeward.notebooks.export import write
from lakeward.notebooks.ipynb import parse_ipynb
from lakeward.notebooks.ipython_syntax import LineMagic, line_magics, python_text, without_indent
from lakeward.notebooks.loader import SUFFIXES, load_notebook, parse
from lakeward.notebooks.magics import MAGICS, WITHOUT_EFFECT, pip_commands
from lakeward.notebooks.model import Cell, Notebook, NotebookRun
from lakeward.notebooks.notebook_environment import install_commands
from lakeward.notebooks.packages import install_packages, missing_package_files, notebook_packages, restart
from lakeward.notebooks.python_code import MAGIC, Compiled, Compiler
from lakeward.notebooks.recorder import CellRecord
from lakeward.notebooks.run_magic import RunLine, find_run_notebook, parse_run_line
from lakeward.notebooks.runner import run
from lakeward.notebooks.source_format import PYTHON_MARK, SQL_MARK, has_separators, parse_export
from lakeward.notebooks.sql_cells import statements_of

__all__ = [
    "MAGIC",
    "MAGICS",
    "PYTHON_MARK",
    "SQL_MARK",
    "SUFFIXES",
    "WITHOUT_EFFECT",
    "Cell",
    "CellRecord",
    "Compiled",
    "Compiler",
    "LineMagic",
    "Notebook",
    "NotebookRun",
    "RunLine",
    "find_run_notebook",
    "has_separators",
    "install_commands",
    "install_packages",
    "line_magics",
    "load_notebook",
    "missing_package_files",
    "notebook_packages",
    "parse",
    "parse_export",
    "parse_ipynb",
    "parse_run_line",
    "pip_commands",
    "python_text",
    "restart",
    "run",
    "statements_of",
    "without_indent",
    "write",
]
