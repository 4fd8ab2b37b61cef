"""The page about notebooks, from the table of magics."""

from __future__ import annotations

from lakeward.notebooks.magics import MAGICS

__all__ = ["as_markdown"]

_INTRODUCTION = """\
# Notebooks

`lakeward notebook PATH [--param k=v]` runs a Python or SQL notebook kept as source file, or an `.ipynb`, as
the platform does: cells in order, in one namespace, on the target's lakehouse. `notebook_task` of a job does
the same. The outcome, every cell's output with tables and figures included, is written as `.ipynb` and as an
HTML page to `.lakeward/<target>/notebooks` (`--output DIR`); what cells print goes to stderr as they run, and
the value of `dbutils.notebook.exit` is printed last. A cell that fails ends the run, and its error names the
cell, the file and the line; breakpoints in cells of a source file work, for code keeps its file and lines.

- **Widgets** take their values from `--param`, from a task's `base_parameters`, from `%run … $a="…"` and from
  `dbutils.notebook.run`; SQL reads them as `${w}`, `$w`, `:w` and `getArgument('w')`, and declares them with
  `CREATE WIDGET`.
- **`dbutils.notebook.run`** gives the notebook a session of its own in the same Spark, so that global
  temporary views live on. Its timeout is not enforced.
- **`display`** shows up to 1,000 rows. A stream that is shown is a query like any other
  (`streamName`, `checkpointLocation`, `trigger`), stopped at the end; a run goes on while other streams that
  it has started do.

## Magics

"""


def as_markdown() -> str:
    """The whole page."""
    rows: dict[str, list[str]] = {}
    for name, magic in MAGICS.items():
        rows.setdefault(str(magic.__doc__).rstrip("."), []).append(f"`%{name}`")
    lines = ["| magic | what it does here |", "|---|---|"]
    lines += [f"| {', '.join(names)} | {text[0].lower() + text[1:]} |" for text, names in rows.items()]
    lines += ["| others, `%scala` and `%r` among them | refused: the run stops at the cell |"]
    return _INTRODUCTION + "\n".join(lines) + "\n"
