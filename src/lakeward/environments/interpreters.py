"""The Python that a repository's tests run on: this one if it satisfies the bounds, else another one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import Specifier, SpecifierSet

from lakeward.environments.model import PythonWanted
from lakeward.environments.pin_overrides import are_compatible
from lakeward.errors import ConfigurationError, SetupError

_NAMES = ("python3.12", "python3.11", "python3.13", "python3.10", "python3.14", "python3")
_PROBE = "import sys, venv, ensurepip; print('%d.%d.%d' % sys.version_info[:3])"


@dataclass(frozen=True)
class Interpreter:
    """A Python; `running` when it is the one of this process."""

    path: Path
    version: str
    running: bool = False


def relax_bounds(
    requested: Iterable[PythonWanted], own: SpecifierSet
) -> tuple[tuple[PythonWanted, ...], tuple[str, ...]]:
    """Return the bounds that a Python of `own` can satisfy, and a sentence for each of the others.

    Of the bounds of several files that exclude each other, those that come first are kept: the files of a
    project are in the order of their weight.
    """
    kept: list[PythonWanted] = []
    relaxed: list[str] = []
    together = own
    for each in requested:
        bound = _by_minor(each.specifier)
        if not are_compatible(bound, own):
            relaxed.append(f"Python {each.specifier} ({each.origin}) became {own}: lakeward needs that")
        elif are_compatible(bound, together) or all(_same_file(each, other) for other in kept):
            together &= bound
            kept.append(each)
        else:
            named = " and ".join(f"{other.specifier} ({other.origin})" for other in kept)
            relaxed.append(f"Python {each.specifier} ({each.origin}) is not used: {named} excludes it")
    return tuple(kept), tuple(relaxed)


def _same_file(one: PythonWanted, other: PythonWanted) -> bool:
    return one.origin.partition(" ")[0] == other.origin.partition(" ")[0]


def choose_interpreter(
    requested: Iterable[PythonWanted],
    own: SpecifierSet,
    *,
    uv: str | None,
    preferred: SpecifierSet | None = None,
    environ: Mapping[str, str] = os.environ,
    here: Interpreter | None = None,
) -> Interpreter:
    """Return a Python that satisfies all of `requested` and lakeward's `own` bound; `uv` may fetch one.

    Where the running one does not, a `preferred` release comes before the others: the versions that a
    repository locks have wheels for it.

    Raises ConfigurationError when no version can satisfy both, SetupError when the machine has none.
    """
    wanted = SpecifierSet()
    stated = list(requested)
    for each in stated:
        wanted &= _by_minor(each.specifier)
    said = " and ".join(f"{each.specifier} ({each.origin})" for each in stated if str(each.specifier))
    if not are_compatible(wanted, own):
        raise ConfigurationError(
            "PYTHON_CONFLICT",
            f"The repository asks for Python {said}, and lakeward needs {own}.",
            next_step="Widen the repository's bound, if its code runs on a newer Python.",
        )
    both = wanted & own
    running = here or _here()
    if both.contains(running.version, prereleases=True):
        return running
    ranges = [both & preferred, both] if preferred is not None and are_compatible(both, preferred) else [both]
    for bounds in ranges:
        found = _by_uv(bounds, uv) if uv else None
        if found := found or next(_on_path(bounds, environ), None):
            return found
    cure = f"uv python install '{both}'" if uv else "Install one, or install uv, which fetches it."
    raise SetupError(
        "PYTHON_NOT_FOUND",
        f"The repository asks for Python {said}; this is {running.version}, and none that fits is on PATH.",
        next_step=cure,
    )


def _here() -> Interpreter:
    base = Path(getattr(sys, "_base_executable", "") or sys.executable)
    return Interpreter(base, ".".join(map(str, sys.version_info[:3])), running=True)


def _by_minor(specifier: SpecifierSet) -> SpecifierSet:
    """Return bounds by feature release: `==3.11.4` and `==3.11` mean the feature release 3.11."""
    return SpecifierSet(",".join(_minor(each) for each in specifier))


def _minor(specifier: Specifier) -> str:
    found = re.match(r"(?P<major>\d+)\.(?P<minor>\d+)(?P<fix>\.\d+)?$", specifier.version)
    if found is None:
        return str(specifier)
    feature = f"{found['major']}.{found['minor']}"
    if specifier.operator in ("==", "==="):
        return f"=={feature}.*"
    if specifier.operator == ">=":
        return f">={feature}"
    if specifier.operator == "<=":
        return f"<{found['major']}.{int(found['minor']) + 1}"
    return str(specifier)


def _by_uv(wanted: SpecifierSet, uv: str) -> Interpreter | None:
    """Return one that uv knows; else one that it fetches."""
    request = ",".join(sorted(map(str, wanted)))
    for command in ((), ("install", request)):
        if command and _output_of([uv, "python", *command]) is None:
            return None
        path = _output_of([uv, "python", "find", "--system", request])
        version = _output_of([path, "-c", _PROBE]) if path else None
        if path and version and wanted.contains(version):
            return Interpreter(Path(path), version)
    return None


def _on_path(wanted: SpecifierSet, environ: Mapping[str, str]) -> Iterator[Interpreter]:
    places: list[str] = []
    for name in _NAMES:
        path = shutil.which(name, path=environ.get("PATH", os.defpath))
        if path:
            places.append(path)
    # pyenv keeps those that are not chosen away from PATH.
    root = environ.get("PYENV_ROOT") or f"{environ.get('HOME', '')}/.pyenv"
    places += sorted(map(str, Path(root).glob("versions/3.1*/bin/python")), reverse=True)
    for place in places:
        version = _output_of([place, "-c", _PROBE])
        if version and wanted.contains(version, prereleases=True):
            yield Interpreter(Path(place), version)


def _output_of(command: list[str]) -> str | None:
    """Return what a program prints; None when it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
