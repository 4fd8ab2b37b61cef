"""The page about sources of pipelines, generated from the tables of the grammar."""

from __future__ import annotations

from lakeward.pipelines.sql.clauses import CLAUSE_PARSERS, IGNORED_CLAUSES
from lakeward.pipelines.sql.grammar import CHANGES, DATASET_KINDS, INSERTS

_INTRODUCTION = """\
# Sources of pipelines

A source is a Python file, a SQL file, a notebook (Python or SQL, as source file or `.ipynb`), or a folder or
glob of these; a notebook is named with or without its extension. Each source runs with its own folder as
working directory, and imports from that folder, from `root_path` and from entries that it adds to `sys.path`.
`spark`, `dbutils`, `display` and `displayHTML` are available without an import; DataFrames have `display()`.

- **Notebooks** declare in their own language: cells of other languages are skipped. `%run` runs another
  notebook in the same namespace. `%pip` installs packages for the update.
- **SQL** may call functions that a Python file of the same pipeline registers. `SET` and `USE` apply up to
  the end of their file, `${key}` and `:key` are values of the pipeline's configuration, and names may be in
  the schema `LIVE`. Statements end with `;`, with the cell, or with the file.
- **Settings** of the pipeline itself are in `spark.conf`: `pipelines.id` (its name), `pipelines.catalog`,
  `pipelines.schema` and `pipelines.target`. Its configuration may replace them.
- **Errors** name file, line and column of the source.

"""


def as_markdown() -> str:
    """Return the page."""
    lines = ["## Statements", "", "| statement | declares |", "|---|---|"]
    lines += [
        f"| `CREATE [OR REFRESH \\| OR REPLACE] {words}` | {kind.replace('_', ' ')} |"
        for words, kind in DATASET_KINDS.items()
    ]
    lines += [f"| `{words}`, alone or in `CREATE FLOW f AS` | append flow |" for words in INSERTS]
    lines += [f"| `{words}`, alone or in `CREATE FLOW f AS` | AUTO CDC flow |" for words in CHANGES]
    lines += ["", "`PRIVATE` and `TEMPORARY` before a table's kind make it private.", "", "## Clauses", ""]
    lines += [
        "In any order: " + ", ".join(f"`{words}`" for words in CLAUSE_PARSERS) + ".",
        "Accepted without effect, with one warning: "
        + ", ".join(f"`{words}`" for words in IGNORED_CLAUSES)
        + "; `MASK` on a column without a type.",
    ]
    return _INTRODUCTION + "\n".join(lines) + "\n"
