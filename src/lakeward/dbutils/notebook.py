"""`dbutils.notebook`: leaving a notebook, running another one, and the context."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.dbutils.context import EntryPoint, JavaContext
from lakeward.dbutils.failures import NotebookExit, refused
from lakeward.dbutils.utility import Utility, also_named


class Notebook(Utility):
    """`dbutils.notebook`."""

    _group = "notebook"

    @property
    def entry_point(self) -> EntryPoint:
        """`entry_point.getDbutils().notebook().getContext()` is the notebook context."""
        return EntryPoint(self._environment().facts)

    def getContext(self) -> JavaContext:
        """The notebook context."""
        return self.entry_point.getContext()

    def exit(self, value: str) -> None:
        """Raises NotebookExit with the value as text: whoever runs the notebook catches it."""
        raise NotebookExit(str(value))

    @also_named(timeoutSeconds="timeout_seconds")
    def run(self, path: str, timeout_seconds: int = 0, arguments: Mapping[str, str] | None = None) -> str:
        """Run another notebook by the runner in force and give its exit value.

        Raises DbutilsError(NOT_SUPPORTED) where no notebook is being run.
        """
        run = self._environment().run_notebook
        if run is None:
            raise refused(
                "dbutils.notebook.run",
                f"'{path}' was asked for, and this process runs no notebook.",
                "Start the calling notebook with `lakeward notebook PATH`.",
            )
        return run(path, timeout_seconds, dict(arguments or {}))
