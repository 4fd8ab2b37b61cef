"""Databricks notebooks, from Python and SQL source files and `.ipynb`: parsing and execution.

Importing this package starts nothing and does not import pyspark.
"""

from lakeward.notebooks.export import write
from lakeward.notebooks.ipython_syntax import LineMagic, line_magics, python_text, without_indent
from lakeward.notebooks.loader import ABOUT_ARCHIVES, SUFFIXES, exported_language, load_notebook, parse
from lakeward.notebooks.magics import MAGICS, WITHOUT_EFFECT, pip_commands
from lakeward.notebooks.model import Cell, Notebook, NotebookRun
from lakeward.notebooks.notebook_environment import install_commands
from lakeward.notebooks.packages import install_packages, missing_package_files, notebook_packages, restart
from lakeward.notebooks.python_code import MAGIC, Compiler
from lakeward.notebooks.recorder import CellRecord
from lakeward.notebooks.run_magic import find_run_notebook, parse_run_line
from lakeward.notebooks.runner import run
from lakeward.notebooks.source_format import has_sql_separators, parse_export
from lakeward.notebooks.sql_cells import statements_of
