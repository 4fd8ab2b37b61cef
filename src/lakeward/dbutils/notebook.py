"""`dbutils.notebook`: exit a notebook, run another one, read the context."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.dbutils.context import EntryPoint, JavaContext
from lakeward.dbutils.failures import NotebookExit, unsupported_function
from lakeward.dbutils.utility import Utility, also_named


class Notebook(Utility):
    """`dbutils.notebook`."""

    _group = "notebook"

    @property
    def entry_point(self) -> EntryPoint:
        """Return the object for `entry_point.getDbutils().notebook().getContext()`."""
        return EntryPoint(self._environment().facts)

    def getContext(self) -> JavaContext:
        """Return the notebook context."""
        return self.entry_point.getContext()

    def exit(self, value: str) -> None:
        """Raise NotebookExit with the value as text; the notebook's runner catches it."""
        raise NotebookExit(str(value))

    @also_named(timeoutSeconds="timeout_seconds")
    def run(self, path: str, timeout_seconds: int = 0, arguments: Mapping[str, str] | None = None) -> str:
        """Run another notebook with the active runner and return its exit value.

        Raises DbutilsError(NOT_SUPPORTED) if no notebook is running.
        """
        run = self._environment().run_notebook
        if run is None:
            raise unsupported_function(
                "dbutils.notebook.run",
                f"'{path}' was requested, but no notebook runs in this process.",
                "Start the calling notebook with `lakeward notebook PATH`.",
            )
        return run(path, timeout_seconds, dict(arguments or {}))
