"""`%pip install`: packages for the notebook that runs, in a layer on top of lakeward's environment.

Source: https://docs.databricks.com/aws/en/libraries/notebooks-python-libraries
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

from lakeward.errors import LakewardError, NotebookError
from lakeward.notebooks import pip_processes
from lakeward.session import is_platform_path

if TYPE_CHECKING:
    from lakeward.environments import Layer


# Options that name an index or a file; their value is a word of its own or follows `=`.
_KEPT = {
    **dict.fromkeys(("-r", "--requirement"), "-r"),
    **dict.fromkeys(("-c", "--constraint"), "-c"),
    **dict.fromkeys(("-e", "--editable"), "-e"),
    **dict.fromkeys(("-i", "--index-url"), "--index-url"),
    **dict.fromkeys(("-f", "--find-links"), "--find-links"),
    "--extra-index-url": "--extra-index-url",
}
_WITH_VALUE = (
    *("--trusted-host", "-t", "--target", "--no-binary", "--only-binary", "--python-version", "--platform"),
    *("--timeout", "--proxy", "--retries", "--cache-dir", "--upgrade-strategy", "--progress-bar", "--root"),
    *("--prefix", "--cert", "--client-cert", "--log", "--src", "--exists-action", "--config-settings"),
)
_VARIABLE = re.compile(r"\$\{?(?P<dollar>[A-Za-z_]\w*)\}?|\{(?P<brace>[A-Za-z_]\w*)\}")
_WORKSPACE = ("/Workspace/", "/Volumes/", "/dbfs/", "dbfs:/", "/Users/", "/Shared/", "/Repos/")

Local = Callable[[str], str]


class _Packages:
    """The packages that a run has requested so far, and the layer that holds them."""

    def __init__(self) -> None:
        self.lines: dict[str, str] = {}
        self.layer: Layer | None = None
        self.stack = ExitStack()

    def install(self, lines: list[str], folder: Path) -> None:
        from lakeward.environments import Layers, active

        # As with pip: a later version of the same package replaces the earlier one.
        wanted = {**self.lines, **{_identity(line, folder): line for line in lines}}
        layers = Layers(say=lambda text: print(text, file=sys.stderr))
        layer = layers.get(list(wanted.values()), origin="%pip install", folder=folder)
        self.lines = wanted
        if layer is not None and layer != self.layer:
            self.stack.close()
            self.stack.enter_context(active(layer))
            self.layer = layer


_open: list[_Packages] = []


@contextmanager
def notebook_packages() -> Iterator[None]:
    """Remove packages that the body installs, by `%pip` or in a process; nested bodies share them."""
    if _open:
        yield
        return
    packages = _Packages()
    _open.append(packages)
    pip_processes.intercept_pip(_install_in_process)
    try:
        yield
    finally:
        pip_processes.release_pip(_install_in_process)
        _open.remove(packages)
        packages.stack.close()


def _install_in_process(line: str, folder: Path) -> None:
    from lakeward.dbutils import environment

    paths = environment().paths
    install_packages(line, folder, local=lambda path: str(paths.local(path)), names=None)


def install_packages(
    text: str, folder: Path, *, local: Local, names: Mapping[str, Any] | None
) -> tuple[str, ...]:
    """Install the packages of `%pip` lines; return the lines that were not executed.

    Args:
        text: One or more lines, each beginning with pip's command.
        folder: The folder that relative paths start from.
        local: Gives the local path for one of the workspace (`/Volumes/…`).
        names: The notebook's variables, for `$name` and `{name}`.

    Raises:
        NotebookError: A package that cannot be found or installed; its name is in the message.
    """
    lines: list[str] = []
    unknown: list[str] = []
    for line in text.splitlines():
        found = requirement_lines(line, names or {})
        if found is None:
            unknown.append(line.strip())
        else:
            lines += found
    if lines:
        packages = _open[-1] if _open else _Packages()
        try:
            packages.install([_local(line, local) for line in lines], folder)
        except LakewardError as error:
            raise NotebookError(error.condition, error.message, next_step=error.next_step) from None
    return tuple(unknown)


def missing_package_files(text: str, folder: Path) -> Iterator[str]:
    """Yield a sentence for each file or folder that `%pip` lines install and that is not there.

    Only relative paths and workspace paths without variables are judged: others depend on the run.
    """
    from lakeward.environments import read_lines

    for line in text.splitlines():
        for wanted in requirement_lines(line, {}) or ():
            path = wanted.rpartition(" ")[2]
            if _VARIABLE.search(line) or not (path.startswith(".") or is_platform_path(path)):
                continue
            try:
                read_lines([wanted], "%pip", folder)
            except LakewardError as error:
                if error.condition in ("PACKAGE_FILE_NOT_FOUND", "REQUIREMENTS_NOT_FOUND"):
                    yield str(error).partition("] ")[2]


def requirement_lines(line: str, names: Mapping[str, Any]) -> list[str] | None:
    """Return `install …` as lines of a requirements file; None for another command of pip.

    >>> requirement_lines("install -q faker 'a>=2' -r ./r.txt --index-url=https://i/ $x", {"x": "./a.whl"})
    ['faker', 'a>=2', '-r ./r.txt', '--index-url https://i/', './a.whl']
    >>> requirement_lines("list", {}) is None
    True
    """
    text = _VARIABLE.sub(lambda found: _value(found, names), line)
    try:
        words = shlex.split(text, comments=True)
    except ValueError:
        return None
    if not words:
        return []
    if words[0] != "install":
        return None
    lines: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        option, sign, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if option in _KEPT:
            lines.append(f"{_KEPT[option]} {value if sign else next(rest, '')}")
        elif option in _WITH_VALUE:
            if not sign:
                next(rest, None)
        elif not word.startswith("-"):
            lines.append(word)
    return lines


def restart() -> None:
    """Forget modules of the packages that `%pip` installed, so that the next import reads them again."""
    from lakeward.environments import forget_replaced

    for packages in _open:
        if packages.layer is not None:
            forget_replaced(packages.layer)


def _value(found: re.Match[str], names: Mapping[str, Any]) -> str:
    name = found["dollar"] or found["brace"]
    return str(names[name]) if name in names else found[0]


def _identity(line: str, folder: Path) -> str:
    """Return what a later line replaces: the same package, or the same line.

    >>> _identity("My_Package>=2", Path()) == _identity("/Volumes/x/my_package-3.0-py3-none-any.whl", Path())
    True
    """
    wheel = re.fullmatch(r"(?:[^-].*/)?([A-Za-z0-9][\w.]*)-[^/]*\.whl", line)
    name = wheel[1] if wheel else None
    if name is None and "/" not in line.partition("@")[0]:
        plain = re.match(r"[A-Za-z0-9][\w.-]*", line)
        name = plain[0] if plain else None
    return canonicalize_name(name) if name else f"{folder} {line}"


def _local(line: str, local: Local) -> str:
    option, _, path = line.rpartition(" ") if line.startswith("-") else ("", "", line)
    if not path.startswith(_WORKSPACE):
        return line
    in_workspace = f"/Workspace{path}" if path.startswith(("/Users/", "/Shared/", "/Repos/")) else path
    place = local(in_workspace)
    if is_platform_path(path) and not Path(place.partition("[")[0]).exists():
        return line  # `environments` looks it up in the repository
    return f"{option} {place}".strip()
