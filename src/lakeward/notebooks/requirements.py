"""What a `%pip install` line asks for, and which of it is not installed. Nothing is ever installed here."""

from __future__ import annotations

import importlib.metadata
import shlex
from dataclasses import dataclass
from pathlib import Path

from lakeward.errors import NotebookError

__all__ = ["asked_for", "check_installed"]

_WITH_VALUE = (
    *("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--trusted-host", "-t", "--target"),
    *("--no-binary", "--only-binary", "--python-version", "--platform", "-c", "--constraint", "--timeout"),
    *("--proxy", "--retries", "--cache-dir", "--upgrade-strategy", "--progress-bar", "--root", "--prefix"),
)


@dataclass(frozen=True)
class Asked:
    """The requirements of a line; `unchecked` are those whose names cannot be told (paths, variables …)."""

    requirements: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()


def asked_for(line: str, folder: Path) -> Asked:
    """The requirements of `install …`, those of files that it names (below `folder`) included.

    >>> asked_for("install -q faker 'pandas>=2' ./a.whl $x", Path())
    Asked(requirements=('faker', 'pandas>=2'), unchecked=('./a.whl', '$x'))
    """
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return Asked(unchecked=(line,))
    if not words or words[0] != "install":
        return Asked()
    requirements: list[str] = []
    unchecked: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word in ("-r", "--requirement"):
            for each in _in_file(folder / next(rest, "")):
                (requirements if _is_plain(each) else unchecked).append(each)
        elif word in ("-e", "--editable"):
            unchecked.append(next(rest, ""))
        elif word in _WITH_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            (requirements if _is_plain(word) else unchecked).append(word)
    return Asked(tuple(requirements), tuple(unchecked))


def check_installed(text: str, folder: Path) -> tuple[str, ...]:
    """Compare the lines behind `%pip` with what is installed; gives what could not be compared.

    Raises NotebookError for what is missing.
    """
    unchecked: list[str] = []
    for line in text.splitlines():
        asked = asked_for(line.strip(), folder)
        lacking = missing(asked.requirements)
        if lacking:
            names = shlex.join(each.split(" (")[0] for each in lacking)
            raise NotebookError(
                "PACKAGE_NOT_INSTALLED",
                f"%pip asks for {', '.join(lacking)}, and nothing is installed by itself here.",
                next_step=f"Install it beforehand: pip install {names}",
            )
        unchecked += asked.unchecked
    return tuple(unchecked)


def missing(requirements: tuple[str, ...]) -> list[str]:
    """Those of the requirements that the environment does not meet, with what there is instead."""
    from packaging.requirements import InvalidRequirement, Requirement

    lacking = []
    for text in requirements:
        try:
            wanted = Requirement(text)
        except InvalidRequirement:
            continue
        if wanted.marker is not None and not wanted.marker.evaluate():
            continue
        try:
            installed = importlib.metadata.version(wanted.name)
        except importlib.metadata.PackageNotFoundError:
            lacking.append(text)
            continue
        if not wanted.specifier.contains(installed, prereleases=True):
            lacking.append(f"{text} ({installed} is installed)")
    return lacking


def _is_plain(word: str) -> bool:
    return not any(mark in word for mark in ("/", "\\", "$", "{", "://", "@")) and not word.endswith(".whl")


def _in_file(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return [f"-r {path}"]
    stripped = [line.split(" #")[0].strip() for line in lines]
    return [line for line in stripped if line and not line.startswith(("#", "-"))]
