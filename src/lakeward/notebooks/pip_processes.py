"""`pip install` that user code starts as a process: its packages are those of the run, as with `%pip`.

pip itself would change lakeward's own environment (`sys.executable -m pip`), or install for another Python
(`pip` on PATH). The process that user code waits for reports success, or the error with exit code 1.
"""

from __future__ import annotations

import functools
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lakeward.errors import NotebookError
from lakeward.patching import Order, PatchSpec, Wrapped

_PYTHONS, _PIPS = ("python", "python3"), ("pip", "pip3")
# The Python of a cluster: https://docs.databricks.com/aws/en/release-notes/runtime/
_PLATFORM_FOLDER = "/databricks/python/bin"
_ENDING = "import sys; sys.stderr.write(sys.argv[2]); sys.exit(int(sys.argv[1]))"

Install = Callable[[str, Path], object]
"""Installs the packages of a line that begins with `install`, in a folder that relative paths start from."""

_installs: list[Install] = []


def intercept_pip(install: Install) -> None:
    """Install by `install` what processes of this Python's pip would, until `end`."""
    for spec in PATCHES:
        spec.install()
    _installs.append(install)


def release_pip(install: Install) -> None:
    """Let pip run again as it is."""
    _installs.remove(install)


def install_arguments(words: Sequence[str]) -> str | None:
    """Return `install …` of a command line of this Python's pip; None for any other command.

    >>> install_arguments([sys.executable, "-m", "pip", "install", "a b"])
    "install 'a b'"
    >>> install_arguments(["/tmp/other/bin/pip", "install", "a"]), install_arguments(["pip", "list"])
    (None, None)
    """
    folder, _, program = words[0].rpartition("/") if words else ("", "", "")
    if folder and folder not in (str(Path(sys.executable).parent), _PLATFORM_FOLDER):
        return None
    rest = list(words[1:])
    if (program in _PYTHONS or words[:1] == [sys.executable]) and rest[:2] == ["-m", "pip"]:
        rest = rest[2:]
    elif program not in _PIPS:
        return None
    return shlex.join(rest) if rest[:1] == ["install"] else None


def _requested(arguments: Any, *, is_shell: bool) -> str | None:
    """Return `install …` of the arguments of Popen; None for any other process."""
    if isinstance(arguments, str | bytes):
        text = os.fsdecode(arguments)
        if not is_shell or any(each in text for each in "$`;&|<>\n"):
            return None
        try:
            return install_arguments(shlex.split(text, comments=True))
        except ValueError:
            return None
    if is_shell or not isinstance(arguments, Sequence):
        return None
    try:
        return install_arguments([os.fsdecode(each) for each in arguments])
    except TypeError:
        return None


def _install(line: str, folder: str) -> str:
    """Install the packages; return the error, "" for none."""
    try:
        _installs[-1](line, Path(folder))
    except NotebookError as error:
        return f"ERROR: {error}\n"
    return ""


def _starting(before: Wrapped) -> Any:
    @functools.wraps(before)
    def initialize(self: Any, args: Any, *rest: Any, **named: Any) -> None:
        line = _requested(args, is_shell=bool(named.get("shell"))) if _installs else None
        if line is not None:
            error = _install(line, os.fspath(named.get("cwd") or Path.cwd()))
            args = [sys.executable, "-I", "-c", _ENDING, str(int(bool(error))), error]
            named = {**named, "shell": False, "executable": None}
        before(self, args, *rest, **named)

    return initialize


def _in_shell(before: Wrapped) -> Any:
    @functools.wraps(before)
    def system(command: Any) -> int:
        line = _requested(command, is_shell=True) if _installs else None
        if line is None:
            return int(before(command))
        error = _install(line, str(Path.cwd()))
        sys.stderr.write(error)
        # The exit code is the second byte of a status.
        return 256 if error else 0

    return system


_REASON = "pip in a process of user code installs packages of the run, not into lakeward's environment"
# Above path redirection, which calls the functions of Python itself.
PATCHES = (
    PatchSpec("subprocess:Popen", "__init__", "notebooks", _REASON, _starting, Order.SOURCE),
    PatchSpec("os", "system", "notebooks", _REASON, _in_shell, Order.SOURCE),
)
