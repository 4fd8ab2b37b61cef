"""The project's environment, `.venv`: whether it is what the lock files say, and the steps that make it so.

A stamp is written last. An environment of ours without one was left half-made and is made anew; one that
somebody else made is kept and filled.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Each level holds everything of those before it, at the same versions.
LEVELS = ("runtime", "dev", "bench")
STAMP = "lakeward-setup.json"


def main(arguments: list[str]) -> int:
    """Bring `.venv` to a level (default: runtime); returns the exit code."""
    level = arguments[0] if arguments else "runtime"
    if level not in LEVELS:
        sys.stderr.write(f"There is no set-up level '{level}'; there are {', '.join(LEVELS)}.\n")
        return 2
    venv = ROOT / ".venv"
    if is_current(venv, level):
        return 0
    # Loaded only now: the usual call has nothing to do and ends above.
    from installing import SetupFailed, install

    try:
        with alone():
            if not is_current(venv, level):
                install(ROOT, venv, level)
    except SetupFailed as failure:
        sys.stderr.write(f"lakeward set-up: {failure}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\nlakeward set-up: stopped; the next call begins where this is needed.\n")
        return 130
    return 0


def is_current(venv: Path, level: str) -> bool:
    """Return whether `venv` is complete, made here, by this Python, from these locks, for `level` or more."""
    stamp = read_stamp(venv)
    return (
        stamp is not None
        and stamp["state"] == "made"
        and fits(stamp, venv)
        and stamp["project"] == digest(ROOT / "pyproject.toml")
        and (venv / "bin" / "python").exists()
        and any(stamp["locks"].get(each) == lock_digest(each) for each in LEVELS[LEVELS.index(level) :])
    )


def fits(stamp: dict[str, Any], venv: Path) -> bool:
    """Return whether an environment belongs to this place (its scripts name it) and this Python."""
    return stamp["folder"] == str(venv) and (not stamp["ours"] or stamp["python"] == python_version())


def read_stamp(venv: Path) -> dict[str, Any] | None:
    """Return what the last set-up wrote into `venv`; None when nothing readable is there."""
    try:
        stamp = json.loads((venv / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    keys = {"state", "ours", "folder", "python", "project", "locks"}
    return stamp if isinstance(stamp, dict) and keys <= stamp.keys() else None


def write_stamp(venv: Path, state: str, *, ours: bool, locks: dict[str, str] | None = None) -> None:
    """State that `venv` is being made (`making`) or is whole (`made`)."""
    stamp = {
        "state": state,
        "ours": ours,
        "folder": str(venv),
        "python": python_version(),
        "project": digest(ROOT / "pyproject.toml"),
        "locks": locks or {},
    }
    aside = venv / f".{STAMP}"
    aside.write_text(json.dumps(stamp, indent=1), encoding="utf-8")
    aside.replace(venv / STAMP)


def python_version() -> str:
    """Version of the running Python as environments tell them apart."""
    return f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"


def digest(file: Path) -> str:
    """SHA-256 of a file, or of nothing where there is none."""
    with suppress(OSError):
        return hashlib.sha256(file.read_bytes()).hexdigest()
    return ""


def lock_digest(level: str) -> str:
    """Digest of the lock file of a level."""
    return digest(ROOT / "requirements" / f"{level}.lock")


class alone:  # noqa: N801  # reads as a statement: `with alone()`
    """One set-up of this folder at a time; a second one waits. The lock ends with the process."""

    def __enter__(self) -> None:
        self._file = Path(__file__).open("rb")
        with suppress(ImportError):
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self._file.close()


def remove(folder: Path) -> None:
    """Delete an environment; a link is removed, not what it points to."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        import shutil

        shutil.rmtree(folder)


def usual_environ() -> dict[str, str]:
    """Variables for the environment's programs: the user's, but for those that lead another Python astray."""
    astray = ("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "__PYVENV_LAUNCHER__")
    return {key: value for key, value in os.environ.items() if key not in astray}
