"""The magics of a running notebook, one function each."""

from __future__ import annotations

import inspect
import io
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Protocol

from lakeward.dbutils import Environment
from lakeward.errors import NotebookError
from lakeward.notebooks.ipython_syntax import SETTINGS
from lakeward.notebooks.notebook_environment import CELL as ENVIRONMENT_CELL
from lakeward.notebooks.packages import install_packages

WITHOUT_EFFECT = (
    *("md", "md-sandbox", "skip"),
    *SETTINGS,
    ENVIRONMENT_CELL,
)
"""Magics that change nothing in what a run gives."""

_APPEND = ("-a", "--append")
_FLAGS = dict.fromkeys(("-r", "-R", "--recurse", "--recursive"), "recurse")


class MagicContext(Protocol):
    """The part of a notebook run that magics use."""

    folder: Path
    namespace: dict[str, Any]
    first_names: dict[str, Any]
    allow_shell: bool

    @property
    def environment(self) -> Environment:
        """Return what `dbutils` works on."""

    def restart(self) -> None:
        """Clear the notebook's names."""

    def include(self, text: str) -> None:
        """Run another notebook in the same namespace."""

    def sql(self, text: str, line: int) -> None:
        """Run SQL statements."""

    def display(self, value: object) -> None:
        """Show a value."""


Magic = Callable[[MagicContext, str, int], Any]


def _run(context: MagicContext, text: str, _: int) -> None:
    """Run the cells of another notebook in this namespace; `$a="…"` gives its widgets values."""
    context.include(text)


def _sql(context: MagicContext, text: str, line: int) -> None:
    """Run statements; the last result is displayed and assigned to `_sqldf`."""
    context.sql(text, line)


def _pip(context: MagicContext, text: str, _: int) -> None:
    """Install packages for this run on top of lakeward's environment; ignore other commands."""
    unknown = install_packages(
        text,
        context.folder,
        local=lambda path: str(context.environment.paths.local(path)),
        names=context.namespace,
    )
    for line in unknown:
        print(f"%pip {line} has no effect here.")


def _fs(context: MagicContext, text: str, _: int) -> None:
    """Run a command of `dbutils.fs`."""
    words = shlex.split(text)
    if not words:
        return
    fs = context.namespace["dbutils"].fs
    function = getattr(fs, words[0], None)
    if function is None or words[0].startswith("_"):
        raise NotebookError("MAGIC_NOT_SUPPORTED", f"%fs has no command `{words[0]}`.")
    options = {_FLAGS[word]: True for word in words[1:] if word in _FLAGS}
    arguments = [word for word in words[1:] if word not in _FLAGS]
    if words[0] == "ls" and not arguments:
        arguments = ["/"]
    signature = inspect.signature(function)
    try:
        given = signature.bind(*arguments, **options)
        for name, word in given.arguments.items():
            given.arguments[name] = _value(word, signature.parameters[name].default)
    except (TypeError, ValueError) as wrong:
        expected = " ".join(signature.parameters)
        raise NotebookError(
            "MAGIC_ARGUMENTS_INVALID",
            f"`%fs {text.strip()}` has other arguments than {words[0]} takes: {wrong}.",
            next_step=f"%fs {words[0]} {expected}: see dbutils.fs.help().",
        ) from None
    result = function(*given.args, **given.kwargs)
    if isinstance(result, str):
        print(result)
    elif result is not None:
        context.display(result)


def _value(word: Any, default: object) -> Any:
    """Return the value of a word of `%fs` as the type of the parameter's default."""
    if isinstance(default, bool):
        return str(word).lower() == "true"
    return int(word) if isinstance(default, int) else word


def pip_commands(text: str) -> str | None:
    """Return the lines of `%pip` that a shell script consists of; None for a script with other commands.

    >>> pip_commands("{sys.executable} -m pip install -q 'tiny>=1'")
    "install -q 'tiny>=1'"
    >>> pip_commands("pip install tiny; ls")
    """
    lines = [line for line in text.splitlines() if line.strip() not in ("", "-e")]
    commands = [_pip_command(line) for line in lines if not line.lstrip().startswith("#")]
    found = [each for each in commands if each is not None]
    return "\n".join(found) if found and len(found) == len(commands) else None


def _pip_command(line: str) -> str | None:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(takewhile(lambda word: not word.startswith("#"), lexer))
    except ValueError:
        return None
    if "$" in line or "`" in line or any(set(word) <= set(lexer.punctuation_chars) for word in words):
        return None
    if words[1:3] == ["-m", "pip"] and words[0].rpartition("/")[2] in (
        "python",
        "python3",
        "{sys.executable}",
    ):
        words = words[2:]
    if words[1:2] != ["install"] or words[0].rpartition("/")[2] not in ("pip", "pip3"):
        return None
    return shlex.join(words[1:])


def _sh(context: MagicContext, text: str, line: int) -> None:
    """Run shell commands in the notebook's folder, if `--allow-sh` is set; `pip install` alone is `%pip`."""
    packages = pip_commands(text)
    if packages is not None:
        _pip(context, packages, line)
        return
    done = _shell(context, text)
    print(done.stdout, end="")
    if done.returncode and "-e" in text.split()[:1]:
        raise NotebookError("SHELL_FAILED", f"The shell commands ended with exit code {done.returncode}.")


def _sx(context: MagicContext, text: str, _: int) -> list[str]:
    """Return the lines that a shell command prints, for `lines = !command`."""
    return _shell(context, text).stdout.splitlines()


def _shell(context: MagicContext, text: str) -> subprocess.CompletedProcess[str]:
    if not context.allow_shell:
        raise NotebookError(
            "SHELL_NOT_ALLOWED",
            "The notebook runs shell commands (%sh), which is off.",
            next_step="Allow it with --allow-sh once you have read them.",
        )
    script = "\n".join(line for line in text.splitlines() if line.strip() != "-e")
    return subprocess.run(
        ["bash", "-c", script],
        cwd=context.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _env(_context: MagicContext, text: str, _: int) -> None:
    """Print or set an environment variable."""
    separator = "=" if "=" in text else " "
    name, sign, value = text.strip().partition(separator)
    if sign:
        os.environ[name.strip()] = value.strip()
    else:
        print(os.environ.get(name.strip(), ""))


def _python(context: MagicContext, text: str, _: int) -> None:
    """Run the Python code of the line."""
    exec(compile(text.strip(), "<magic>", "exec"), context.namespace)  # noqa: S102  # the user's own line


@dataclass(frozen=True)
class CapturedOutput:
    """What a cell with `%%capture` printed."""

    stdout: str
    stderr: str

    def show(self) -> None:
        """Print the output to the streams that it was captured from."""
        for text, stream in ((self.stdout, sys.stdout), (self.stderr, sys.stderr)):
            if text:
                print(text, end="", file=stream)

    __call__ = show

    def __str__(self) -> str:
        return self.stdout


def _capture(context: MagicContext, text: str, line: int) -> None:
    """Run the cell's other lines; what they print goes to the variable that is named, or nowhere."""
    words, _, code = text.partition("\n")
    stdout = nullcontext() if "--no-stdout" in words else redirect_stdout(io.StringIO())
    stderr = nullcontext() if "--no-stderr" in words else redirect_stderr(io.StringIO())
    with stdout as printed, stderr as reported:
        _python(context, code, line)
    for name in (word for word in words.split() if not word.startswith("-")):
        texts = [each.getvalue() if each else "" for each in (printed, reported)]
        context.namespace[name] = CapturedOutput(*texts)


def _restart(context: MagicContext, _text: str, _: int) -> None:
    """Clear the notebook's names and reload packages of `%pip`."""
    context.restart()


def _ls(_context: MagicContext, text: str, _: int) -> None:
    """Print the names in a folder."""
    print("\n".join(sorted(entry.name for entry in Path(text.strip() or ".").iterdir())))


def _pwd(_context: MagicContext, _text: str, _: int) -> str:
    """Return the current folder."""
    return str(Path.cwd())


def _cd(_context: MagicContext, text: str, _: int) -> None:
    """Change the current folder for the rest of the run and print it."""
    os.chdir(Path(text.strip().strip("'\"") or "~").expanduser())
    print(Path.cwd())


def _who(context: MagicContext, _text: str, _: int) -> None:
    """Print the names that the notebook has defined."""
    given = context.first_names
    names = [
        name for name, value in context.namespace.items() if name[0] != "_" and value is not given.get(name)
    ]
    print("  ".join(sorted(names)) or "No variable is defined.")


def _writefile(_context: MagicContext, text: str, _: int) -> None:
    """Write the cell's other lines to a file; `-a` appends."""
    first, *lines = text.removesuffix("\n").split("\n")
    words = shlex.split(first)
    appends = any(word in _APPEND for word in words)
    names = [word for word in words if word not in _APPEND]
    if len(names) != 1:
        raise NotebookError("MAGIC_INVALID", "%%writefile needs one file name: `%%writefile [-a] FILE`.")
    target = Path(names[0]).expanduser()
    action = "Writing" if not target.exists() else "Appending to" if appends else "Overwriting"
    print(f"{action} {target}")
    with target.open("a" if appends else "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def _nothing(_context: MagicContext, _text: str, _: int) -> None:
    """Do nothing: the magic has no local effect."""


def _environment(_context: MagicContext, _text: str, _: int) -> None:
    """Hold the notebook's environment, whose packages were installed before the first cell."""


MAGICS: dict[str, Magic] = {
    "run": _run,
    "sql": _sql,
    "pip": _pip,
    "conda": _pip,
    "fs": _fs,
    "sh": _sh,
    "sx": _sx,
    "env": _env,
    "set_env": _env,
    "time": _python,
    "timeit": _python,
    "capture": _capture,
    "restart_python": _restart,
    "ls": _ls,
    "pwd": _pwd,
    "cd": _cd,
    "who": _who,
    "whos": _who,
    "writefile": _writefile,
    "file": _writefile,
    **dict.fromkeys(WITHOUT_EFFECT, _nothing),
    ENVIRONMENT_CELL: _environment,
}
