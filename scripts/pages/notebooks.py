"""docs/notebooks.md: runs of notebooks and the table of magics."""

from __future__ import annotations

from lakeward.notebooks.magics import MAGICS

_INTRODUCTION = """\
# Notebooks

`lakeward notebook PATH [--param k=v]` runs a Python or SQL notebook, as source file or `.ipynb`: cells in
order, in one namespace, on the target's lakehouse. A `notebook_task` of a job does the same.

- The run is written as `.ipynb` and as an HTML page to `.lakeward/<target>/notebooks` (`--output DIR`), with
  all outputs, tables and figures. Output of cells goes to stderr, the value of `dbutils.notebook.exit` to
  stdout at the end.
- A failing cell ends the run. The error has the cell, the file and the line. Breakpoints work in cells of a
  source file.
- **Cells** are read as IPython reads them: the indent of a cell's first line is removed from all its lines, a
  cell of one line may name a line magic without `%` (`pip install …`), and a magic is found with or without
  `# MAGIC`, as `%sql` and as `%%sql`. A cell that starts with a line magic (`%pip`, `%run`, `%%time` …) and
  has further lines is Python. Runs, pipelines and `lakeward check` share one reader.
- **Paths** without a scheme are DBFS paths in Spark and `dbutils.fs`, see [Paths](surroundings.md#paths).
- **Widgets** get their values from `--param`, from a task's `base_parameters`, from `%run … $a="…"` and from
  `dbutils.notebook.run`. SQL reads them as `${w}`, `$w`, `:w` and `getArgument('w')`, and declares them with
  `CREATE WIDGET`.
- **The environment** that a notebook declares for serverless compute is installed before the first cell, as
  `%pip` does: `dependencies` in the `# /// script` comment of a source file, in an `%environment` cell or in
  the metadata of an `.ipynb`. A project that the notebook is part of (`--editable ..`) is imported from its
  sources. Classic compute on Databricks has no environment of notebooks.
- **`dbutils.notebook.run`** runs a notebook in its own session of the same Spark context, so global temporary
  views are shared. After `timeout_seconds` the notebook is ended, with its Spark jobs and streams, and the
  call fails with NOTEBOOK_TIMED_OUT (`WorkflowException: TIMEDOUT`). Code that waits outside of Python in a
  thread of its own, such as `time.sleep`, is ended when it returns.
- **`display(df)`** and `df.display()` show up to 1,000 rows. A displayed stream is a query (`streamName`,
  `checkpointLocation`, `trigger`) that is stopped at the end of the run. The run waits for all other streams
  that it has started.
- **IPython** is there as on Databricks: `IPython.get_ipython()` is the shell of the notebook, and
  `IPython.display` has `display`, `HTML`, `Markdown`, `Latex`, `SVG`, `JSON`, `Javascript`, `Image`,
  `IFrame`, `Code`, `clear_output` and `update_display`. The installed IPython is used if there is one, else
  these names are served. Objects with the display methods of IPython (`_repr_html_`, `_repr_png_` …) are
  shown by them.
- **Secrets** that the run has read are replaced by `[REDACTED]` in sources, outputs and errors of both files,
  plain or escaped (HTML, JSON, `repr`, URL). Only the owner can read the files (mode 600).
- **Scala and R** notebooks are refused (`NOTEBOOK_INVALID`).

## Magics

"""


def as_markdown() -> str:
    """Return the page."""
    rows: dict[str, list[str]] = {}
    for name, magic in MAGICS.items():
        rows.setdefault(str(magic.__doc__).rstrip("."), []).append(f"`%{name}`")
    lines = ["| magic | local behaviour |", "|---|---|"]
    lines += [f"| {', '.join(names)} | {text[0].lower() + text[1:]} |" for text, names in rows.items()]
    lines += ["| others, including `%scala` and `%r` | refused: the run fails at the cell |"]
    return _INTRODUCTION + "\n".join(lines) + "\n"
