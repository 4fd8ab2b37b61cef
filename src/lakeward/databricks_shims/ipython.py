"""The shell that code finds by `get_ipython()` where no shell of IPython runs.

Cells of a notebook call it without an import, other code imports it from IPython: the shell is the same.
Where IPython is not installed, tasks and notebooks import the modules of this file in its place: a Databricks
runtime always has it.

Source: https://docs.databricks.com/aws/en/notebooks/ipython-kernel
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any

from lakeward.databricks_shims import ipython_display
from lakeward.databricks_shims.names import free_names
from lakeward.databricks_shims.pandas_columns import print_columns
from lakeward.patching import PatchSpec, Wrapped
from lakeward.user_code import is_user_file

PATCHES = tuple(
    PatchSpec(module, "get_ipython", "shims", "user code gets dbutils and spark from IPython's shell")
    for module in ("IPython", "IPython.core.getipython")
)


class DatabricksShell:
    """The part of IPython's shell that notebooks use: the names of the notebook, and its magics.

    Its class has the name of the platform's, which code compares to know where it runs.
    """

    def __init__(self, names: dict[str, Any], magic: Callable[[str, str], Any] | None = None) -> None:
        self.user_ns = names
        self.ns_table = {"user_global": names, "user_local": names}
        self.config: dict[str, Any] = {}
        self._magic = magic or _no_magic

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
        """Run a line magic, as `%name line` does."""
        return self._magic(magic_name, line)

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> Any:
        """Run a cell magic, as `%%name line` over the cell does."""
        return self._magic(magic_name, f"{line}\n{cell}")

    def magic(self, arg_s: str) -> Any:
        """Run a line magic, written with its name."""
        name, _, line = arg_s.lstrip("%").partition(" ")
        return self._magic(name, line)

    def system(self, cmd: str) -> Any:
        """Run a shell command, as `!cmd` does; needs `--allow-sh`."""
        return self._magic("sh", cmd)


def _no_magic(name: str, _: str) -> Any:
    raise ValueError(f"The magic %{name} is available in notebooks only.")


_shell: ContextVar[DatabricksShell | None] = ContextVar("lakeward_shell", default=None)


@contextmanager
def use_shell(shell: DatabricksShell) -> Iterator[None]:
    """Let `get_ipython()` return `shell` to the user's code within the block."""
    token = _shell.set(shell)
    try:
        with print_columns():
            yield
    finally:
        _shell.reset(token)


def patch_shell(module: ModuleType) -> None:
    """Let `module.get_ipython` return our shell to the user's own files; a real shell takes precedence.

    Libraries get None: they treat a shell as the sign of a terminal or a kernel.
    """
    without_notebook = DatabricksShell(dict(free_names()))

    def make(before: Wrapped | None) -> Any:
        def get_ipython() -> Any:
            # IPython 9.18 makes the function on first use, in the module's __getattr__.
            running = (before or module.__getattr__("get_ipython"))()
            if running is not None or _is_library(sys._getframe(1).f_code.co_filename):
                return running
            return _shell.get() or without_notebook

        return get_ipython

    _spec(module).install(make, owner=module)


def restore_shell(module: ModuleType) -> None:
    """Restore IPython's own function."""
    _spec(module).remove(owner=module)


def _spec(module: ModuleType) -> PatchSpec:
    return next(spec for spec in PATCHES if spec.owner == module.__name__)


def _is_library(file: str) -> bool:
    # Code typed at a prompt or executed from a string is user code too.
    return not (file.startswith("<") or is_user_file(file))


def _package(module: ModuleType) -> None:
    vars(module).update(get_ipython=lambda: None, __all__=["get_ipython"])
    patch_shell(module)


def _empty(_: ModuleType) -> None:
    """Leave the module without names: it leads to its submodules."""


REPLACED: Mapping[str, Callable[[ModuleType], None]] = {
    "IPython": _package,
    "IPython.display": ipython_display.fill_module,
    "IPython.core": _empty,
    "IPython.core.display": ipython_display.fill_module,
    "IPython.core.display_functions": ipython_display.fill_module,
    "IPython.core.getipython": _package,
}
"""Modules of IPython that tasks and notebooks import where it is not installed."""
