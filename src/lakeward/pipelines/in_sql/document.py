"""The page about sources of pipelines, from the tables of the grammar."""

from __future__ import annotations

from lakeward.pipelines.in_sql.clauses import READERS, WITHOUT_EFFECT
from lakeward.pipelines.in_sql.grammar import CHANGES, INSERTS, KINDS

__all__ = ["as_markdown"]

_INTRODUCTION = """\
# Sources of pipelines

A source is a Python file, a SQL file, a notebook (Python or SQL, as source file or `.ipynb`), or a folder or
glob of them; a notebook is named with or without its extension. Each is read with its own folder as working
directory, and imports from there, from `root_path`, and from what it adds to `sys.path`. `spark`, `dbutils`,
`display` and `displayHTML` are there without an import.

- **Notebooks** declare in their own language: cells of another one are passed over. `%run` runs another
  notebook in the same namespace. `%pip` is compared with what is installed, and nothing is installed.
- **SQL** may call functions that a Python file of the same pipeline registers. `SET` and `USE` hold up to the
  end of their file, `${key}` and `:key` are values of the pipeline's configuration, and names may stand in
  the schema `LIVE`. Statements end with `;`, with the cell, or with the file.
- **Errors** name file, line and column of the source.

"""


def as_markdown() -> str:
    """The whole page."""
    lines = ["## Statements", "", "| statement | declares |", "|---|---|"]
    lines += [
        f"| `CREATE [OR REFRESH \\| OR REPLACE] {words}` | {kind.replace('_', ' ')} |"
        for words, kind in KINDS.items()
    ]
    lines += [f"| `{words}`, alone or in `CREATE FLOW f AS` | append flow |" for words in INSERTS]
    lines += [f"| `{words}`, alone or in `CREATE FLOW f AS` | AUTO CDC flow |" for words in CHANGES]
    lines += ["", "`PRIVATE` and `TEMPORARY` before a table's kind make it private.", "", "## Clauses", ""]
    lines += [
        "In any order: " + ", ".join(f"`{words}`" for words in READERS) + ".",
        "Accepted, and one warning says that they do nothing here: "
        + ", ".join(f"`{words}`" for words in WITHOUT_EFFECT)
        + "; `MASK` where a column stands without its type.",
    ]
    return _INTRODUCTION + "\n".join(lines) + "\n"
