"""Notebooks as pipeline sources: their cells declare datasets in the notebook's language."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lakeward.dbutils import NotebookExit, environment
from lakeward.errors import NotebookError, PipelineError
from lakeward.notebooks import (
    MAGIC,
    WITHOUT_EFFECT,
    Cell,
    Compiler,
    Notebook,
    find_run_notebook,
    install_packages,
    parse,
    parse_run_line,
)
from lakeward.pipelines.sql.declarations import SqlFile

log = logging.getLogger("lakeward.pipelines")


def declare_cells(
    notebook: Notebook, source: Path, namespace: dict[str, Any], sql: SqlFile, *, root: Path | None = None
) -> list[Path]:
    """Run the cells of `notebook`, which declare datasets; return the notebooks that it includes.

    Cells of another language are skipped. `%run` runs another notebook in the same namespace; `%pip`
    installs packages for the update. `dbutils.notebook.exit` ends the notebook: later cells declare
    nothing. Other errors of cells propagate.
    """
    cells = _CellRunner(namespace, sql, root)
    try:
        cells.declare(notebook, source)
    except NotebookExit as leaving:
        log.info("%s: dbutils.notebook.exit ended the notebook: %s", source, leaving)
    return cells.included


class _CellRunner:
    def __init__(self, namespace: dict[str, Any], sql: SqlFile, root: Path | None) -> None:
        self.namespace, self.sql, self.root = namespace, sql, root
        self.compiler = Compiler()
        self.open: list[Path] = []
        self.included: list[Path] = []

    def declare(self, notebook: Notebook, source: Path) -> None:
        before, self.namespace[MAGIC] = self.namespace.get(MAGIC), self._on_a_line(source)
        self.open.append(source)
        try:
            for cell in notebook.cells:
                self._cell(notebook, cell, source)
        finally:
            self.open.pop()
            self.namespace[MAGIC] = before

    def _cell(self, notebook: Notebook, cell: Cell, source: Path) -> None:
        file = notebook.file_of(cell, str(source))
        if cell.language == "python" and notebook.language == "python":
            code = self.compiler.compile(notebook, cell, str(source))
            exec(code.body, self.namespace)  # noqa: S102  # running the user's cells is what this is for
            if code.last is not None:
                eval(code.last, self.namespace)  # noqa: S307  # as above
        elif cell.language == "sql" and notebook.language == "sql":
            self.sql.declare(cell.source, file, cell.line)
        elif cell.language in ("run", "pip"):
            self._magic(cell.language, cell.source.strip(), source, f"{file}:{cell.line}")

    def _on_a_line(self, source: Path) -> Callable[[str, str], None]:
        return lambda name, text: self._magic(name, text, source, str(source))

    def _magic(self, name: str, text: str, source: Path, where: str) -> None:
        if name == "run":
            self._include(text, source, where)
        elif name == "pip":
            self._pip(text, source.parent, where)
        elif name not in WITHOUT_EFFECT:
            log.warning(
                "%s: the magic %%%s has no effect in a pipeline; only %%run and %%pip do.", where, name
            )

    def _pip(self, text: str, folder: Path, where: str) -> None:
        with _errors_at(where):
            local = environment().paths.local
            unknown = install_packages(
                text, folder, local=lambda path: str(local(path)), names=self.namespace
            )
        for line in unknown:
            log.warning("%s: %%pip %s has no effect here.", where, line)

    def _include(self, text: str, source: Path, where: str) -> None:
        requested = parse_run_line(text)
        with _errors_at(where):
            found = find_run_notebook(requested, source.parent, self.root, self.open)
        notebook = parse(found.read_bytes(), found.suffix)
        if notebook is None:
            raise PipelineError(
                "NOTEBOOK_NOT_FOUND",
                f"{where}: %run includes {requested.path}, but {found} is not a notebook.",
            )
        self.included.append(found)
        self.declare(notebook, found)


@contextmanager
def _errors_at(where: str) -> Iterator[None]:
    try:
        yield
    except NotebookError as error:
        raise PipelineError.at(where, error) from None
