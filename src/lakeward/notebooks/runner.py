"""Runs a notebook: its cells in order, in one namespace, on one session."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.databricks_shims import DatabricksShell, main_names, use_display, use_shell, use_surroundings
from lakeward.dbutils import DBUtils, Environment, NotebookExit
from lakeward.errors import NotebookError
from lakeward.notebooks.cell_errors import CellError, explain_error
from lakeward.notebooks.display import Display
from lakeward.notebooks.loader import find_notebook, load_notebook
from lakeward.notebooks.magics import MAGICS
from lakeward.notebooks.model import Cell, Notebook, NotebookRun
from lakeward.notebooks.notebook_environment import install_commands, own_projects
from lakeward.notebooks.notebook_imports import notebook_imports
from lakeward.notebooks.notebook_streams import NotebookStreams
from lakeward.notebooks.packages import notebook_packages, restart
from lakeward.notebooks.python_code import MAGIC, Compiler
from lakeward.notebooks.recorder import TEXT, CellRecord, Recorder
from lakeward.notebooks.representations import plain
from lakeward.notebooks.run_magic import find_run_notebook, missing_notebook_advice, parse_run_line
from lakeward.notebooks.sql_cells import SqlCells
from lakeward.notebooks.time_limit import call_with_limit
from lakeward.session import dbfs_paths
from lakeward.spark_internals import activated
from lakeward.streaming import observing_starts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run(
    path: Path,
    *,
    spark: SparkSession,
    environment: Environment,
    parameters: Mapping[str, str] | None = None,
    root: Path | None = None,
    further: Sequence[Path] = (),
    default_schema: tuple[str, ...] = (),
    allow_shell: bool = False,
    on_cell: Callable[[CellRecord, int], None] | None = None,
    on_wait: Callable[[Sequence[str]], None] | None = None,
) -> NotebookRun:
    """Run the notebook at `path` with `parameters` as its widgets' values.

    A failing cell ends the run with state FAILED and `error`. Ctrl-C propagates.

    Args:
        path: The notebook, with or without its extension.
        spark: The session.
        environment: What `dbutils` works on.
        parameters: Values of widgets.
        root: The folder below which absolute notebook paths are found; importable.
        further: Further importable folders.
        default_schema: The catalog and schema that SQL cells begin in, instead of the notebook's own.
        allow_shell: Run `%sh` and `!`.
        on_cell: Receives each cell before it runs, with the number of cells.
        on_wait: Receives the names of streaming queries that the run has waited for after its last cell for
            some seconds; again if they change.

    Raises:
        ConfigurationError: `path` is not a notebook.
    """
    file, notebook = load_notebook(path)
    if default_schema:
        notebook = replace(notebook, default_schema=default_schema)
    options = _RunOptions(
        dict(parameters or {}),
        root,
        [file.parent, *([root] if root else []), *further],
        allow_shell,
        on_cell,
        on_wait,
    )
    return _Run(file, notebook, spark, environment, options).run()


@dataclass(frozen=True)
class _RunOptions:
    """The arguments of `run`; `imports` are all folders that modules are imported from."""

    parameters: dict[str, str]
    root: Path | None
    imports: list[Path]
    allow_shell: bool
    on_cell: Callable[[CellRecord, int], None] | None
    on_wait: Callable[[Sequence[str]], None] | None


class _Run:
    def __init__(
        self,
        file: Path,
        notebook: Notebook,
        spark: SparkSession,
        environment: Environment,
        options: _RunOptions,
    ) -> None:
        self.file, self.notebook, self.spark, self.folder = file, notebook, spark, file.parent
        self.root, self.imports, self.allow_shell = options.root, options.imports, options.allow_shell
        self.on_cell, self.on_wait = options.on_cell, options.on_wait
        self.environment = replace(
            environment.in_notebook(file),
            arguments=options.parameters,
            widgets={},
            run_notebook=self._run_notebook,
            restart_python=self.restart,
        )
        self.recorder = Recorder()
        self.display = Display(self.recorder)
        self.compiler = Compiler()
        self.children: list[NotebookRun] = []
        self.open: list[Path] = [file]
        self.files = {str(file)}
        self.namespace: dict[str, Any] = {
            **main_names(),
            "spark": spark,
            "dbutils": DBUtils(given=self.environment),
            "__name__": "__main__",
            MAGIC: lambda name, text: self._magic(name, text, 1),
        }
        self.shell = DatabricksShell(self.namespace, self.namespace[MAGIC])
        self.namespace["get_ipython"] = lambda: self.shell
        self.first_names = dict(self.namespace)
        self.sql_cells = SqlCells(
            spark, self.environment, self.namespace, self.display, notebook.default_schema
        )

    def run(self) -> NotebookRun:
        began = time.monotonic()
        error: CellError | None = None
        exit_value: str | None = None
        streams = NotebookStreams(self.spark, self.recorder, self.files)
        with ExitStack() as stack:
            stack.enter_context(activated(self.spark))
            stack.enter_context(dbfs_paths())
            stack.enter_context(notebook_packages())
            stack.enter_context(use_surroundings(self.environment))
            stack.enter_context(use_display(self.display))
            stack.enter_context(use_shell(self.shell))
            dependencies, projects = own_projects(
                self.notebook.dependencies, self.file, self.environment.paths.local
            )
            self.imports += [folder for folder in projects if folder not in self.imports]
            stack.enter_context(notebook_imports(self.folder, self.imports))
            if dependencies:
                self._magic("pip", install_commands(dependencies), 1)
            stack.enter_context(self.recorder.listening())
            stack.enter_context(observing_starts(streams.add))
            cells = [
                CellRecord(cell.number, cell.language, _cell_text(cell), cell.title)
                for cell in self.notebook.cells
            ]
            try:
                error = self._run_cells(cells, streams)
            except NotebookExit as leaving:
                exit_value = str(leaving)
            finally:
                self.display.close()
                self.recorder.cells = cells
        state = "FAILED" if error else "COMPLETED"
        seconds = time.monotonic() - began
        return NotebookRun(self.file, state, exit_value, error, tuple(cells), seconds, tuple(self.children))

    def _run_cells(self, records: Sequence[CellRecord], streams: NotebookStreams) -> CellError | None:
        """Run the cells up to the first that fails, then await the streams; return the error."""
        for cell, record in zip(self.notebook.cells, records, strict=True):
            self.recorder.cells.append(record)
            error = self._run_cell(cell, record)
            if error is not None:
                return error
        streams.await_ends(self.display.queries, self.on_wait)
        self.display.await_first_batches()
        return self._stream_error(streams)

    def _run_cell(self, cell: Cell, record: CellRecord) -> CellError | None:
        began = time.monotonic()
        if self.on_cell is not None:
            self.on_cell(record, len(self.notebook.cells))
        try:
            self._cell(self.notebook, cell, self.file)
            self.recorder.figures()
            record.state = "COMPLETED"
        except NotebookExit as leaving:
            record.state = "COMPLETED"
            self.recorder.show({TEXT: f"Notebook exited: {leaving}"})
            raise
        except (Exception, SystemExit) as raised:  # noqa: BLE001  # a user's cell may raise anything
            return self._record_error(raised, record, cell, cell.line)
        finally:
            record.seconds = time.monotonic() - began
        return None

    def _stream_error(self, streams: NotebookStreams) -> CellError | None:
        """Return the error of a stream that failed after its cell, which becomes the cell's."""
        failure = streams.find_failure()
        if failure is None:
            return None
        started, error = failure
        cell = next(each for each in self.notebook.cells if each.number == started.record.number)
        return self._record_error(error, started.record, cell, started.line or cell.line)

    def _record_error(self, raised: BaseException, record: CellRecord, cell: Cell, line: int) -> CellError:
        record.state = "FAILED"
        file = self.notebook.file_of(cell, str(self.file))
        error = explain_error(raised, cell.number, file=file, line=line, files=self.files)
        output = {"output_type": "error", "ename": error.condition, "evalue": error.message}
        record.outputs.append({**output, "traceback": [error.place, *error.trace, str(error)]})
        return error

    def _cell(self, notebook: Notebook, cell: Cell, file: Path) -> None:
        if cell.language == "python":
            self.files.add(notebook.file_of(cell, str(file)))
            code = self.compiler.compile(notebook, cell, str(file))
            exec(code.body, self.namespace)  # noqa: S102  # running the user's cells is what this is for
            value = eval(code.last, self.namespace) if code.last is not None else None  # noqa: S307  # as above
        else:
            value = self._magic(cell.language, cell.source, cell.line)
        if value is not None:
            self.namespace["_"] = value
            made = plain(value)
            self.recorder.show(made)
            self.recorder.echo(made[TEXT])

    def _magic(self, name: str, text: str, line: int) -> Any:
        magic = MAGICS.get(name)
        if magic is None:
            raise NotebookError(
                "MAGIC_NOT_SUPPORTED",
                f"The magic %{name} cannot be run here.",
                next_step=f"Those that can: %python, {', '.join(f'%{each}' for each in MAGICS)}.",
            )
        return magic(self, text, line)

    def sql(self, text: str, line: int) -> None:
        self.sql_cells.run(text, line)

    def restart(self) -> None:
        """Clear the notebook's names, as a new Python process would; Spark's state stays."""
        restart()
        self.namespace.clear()
        self.namespace.update(self.first_names)

    def include(self, text: str) -> None:
        """Run the cells of another notebook (`%run`), with its arguments as widget values."""
        requested = parse_run_line(text)
        file, notebook = load_notebook(
            find_run_notebook(
                requested, self.folder, self.root, self.open, settings=self.environment.settings()
            )
        )
        outer, arguments = self.folder, self.environment.arguments
        self.open.append(file)
        self.folder = file.parent
        self.environment.arguments = {**arguments, **requested.arguments}
        try:
            for cell in notebook.cells:
                self._cell(notebook, cell, file)
        finally:
            self.open.pop()
            self.folder, self.environment.arguments = outer, arguments
            self.environment.widgets.update(requested.arguments)

    def _run_notebook(self, path: str, timeout: int, arguments: Mapping[str, str]) -> str:
        """Run a notebook for `dbutils.notebook.run`, with a namespace and a session of its own."""
        found = find_notebook(path, self.folder, self.root, settings=self.environment.settings())
        if found is None:
            raise NotebookError(
                "NOTEBOOK_NOT_FOUND",
                f"dbutils.notebook.run names {path}, which does not exist.",
                next_step=missing_notebook_advice(path, self.folder),
            )
        spark = self.spark.newSession()
        run_child = partial(
            run,
            found,
            spark=spark,
            environment=replace(self.environment, arguments={}, widgets={}),
            parameters={name: str(value) for name, value in arguments.items()},
            root=self.root,
            further=self.imports[1:],
            allow_shell=self.allow_shell,
        )
        child = call_with_limit(spark, timeout, path, run_child)
        self.children.append(child)
        if child.error is not None:
            raise NotebookError("NOTEBOOK_FAILED", f"com.databricks.WorkflowException: FAILED: {child.error}")
        return child.exit_value or ""


def _cell_text(cell: Cell) -> str:
    name = f"%{cell.language}" if cell.is_magic and cell.language not in ("python", "md") else ""
    text = cell.source.strip("\n") if not cell.is_magic else cell.source.strip()
    return f"{name}\n{text}" if name and "\n" in text else f"{name} {text}".strip() if name else text
