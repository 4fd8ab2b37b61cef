"""Entry point `land`: copy to the landing volume what has not landed yet.

A landed file is never changed and never replaced. It appears under its name only when it is complete.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wearables.files import replacing

__all__ = ["Landed", "LandingError", "land", "main"]

_JSON = ("*.json", "*.json.gz")
_REGISTRATIONS = ("registrations*.json", "registrations*.json.gz")


class LandingError(Exception):
    """Files cannot be landed; the message says which and what to do about it."""


@dataclass(frozen=True)
class Landed:
    """What one call did: the files taken, how many are left, and those that changed after they landed."""

    taken: tuple[str, ...]
    left: int
    changed: tuple[str, ...]


def main(argv: Sequence[str] | None = None) -> None:
    """Land files as the arguments say (`sys.argv` when None) and print what was done.

    Raises LandingError; wrong arguments end the process with status 2.
    """
    parser = argparse.ArgumentParser(prog="land", description=__doc__)
    parser.add_argument(
        "--source", default="", help="folder with daily/, gym/ (*.json[.gz]) and registrations*.json"
    )
    parser.add_argument("--landing", required=True, help="folder of the landing volume")
    parser.add_argument("--days", default="", help="how many new daily files to take, by name; empty: all")
    # A task with named parameters is given every parameter of its job, also those meant for other tasks.
    arguments, _ = parser.parse_known_args(argv)
    done = land(arguments.source, arguments.landing, days=_number(arguments.days))
    print(f"landed {len(done.taken)} new files, {done.left} left for later runs")
    for name in done.changed:
        print(f"{name} has another size than the file that landed, which stays: send it under a new name")


def land(source: str, landing: str, *, days: int | None = None) -> Landed:
    """Copy new registrations, gym logs and, in the order of their names, at most `days` new daily files.

    A repeated call continues where the last one ended, also after a crash. Raises LandingError when `source`
    is missing or has nothing to land, and for an entry that is no file, is damaged, or cannot be copied.
    """
    if not source.strip():
        raise LandingError("There is no source folder. Give the job parameter `source`.")
    origin = Path(source)
    if not origin.is_dir():
        what = "is a file, not a folder" if origin.exists() else "does not exist"
        raise LandingError(f"The source folder {source} {what}.")
    daily, gym = (_files(origin / name, _JSON) for name in ("daily", "gym"))
    registrations = _files(origin, _REGISTRATIONS)
    if not daily and not registrations and not gym:
        raise LandingError(
            f"The source folder {source} holds nothing to land. "
            "It should hold daily/*.json[.gz], gym/*.json[.gz] and registrations*.json[.gz]."
        )
    done = [
        _land(registrations, Path(landing) / "registrations", limit=None),
        _land(gym, Path(landing) / "gym_logs", limit=None),
        _land(daily, Path(landing) / "daily", limit=days),
    ]
    return Landed(
        taken=tuple(name for part in done for name in part.taken),
        left=sum(part.left for part in done),
        changed=tuple(name for part in done for name in part.changed),
    )


def _land(files: Sequence[Path], folder: Path, *, limit: int | None) -> Landed:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        landed = {path.name: path.stat().st_size for path in folder.iterdir()}
        sizes = {file: file.stat().st_size for file in files}
    except OSError as error:
        raise LandingError(f"The landing folder {folder} cannot be used: {error}.") from error
    new = [file for file in files if file.name not in landed]
    for file in new[:limit]:
        _copy(file, folder)
    return Landed(
        taken=tuple(file.name for file in new[:limit]),
        left=len(new) - len(new[:limit]),
        changed=tuple(file.name for file in files if landed.get(file.name, sizes[file]) != sizes[file]),
    )


def _files(folder: Path, patterns: Sequence[str]) -> list[Path]:
    if not folder.exists():
        return []
    if not folder.is_dir():
        raise LandingError(f"{folder} is a file; a folder is expected there.")
    try:
        visible = [path for path in folder.iterdir() if not path.name.startswith((".", "_"))]
    except OSError as error:
        raise LandingError(f"The folder {folder} cannot be read: {error}.") from error
    found = sorted(path for path in visible if any(path.match(pattern) for pattern in patterns))
    for path in found:
        if not path.is_file():
            raise LandingError(f"{path} is not a file; a file is expected there. Move it away and run again.")
    return found


def _copy(file: Path, folder: Path) -> None:
    try:
        with file.open("rb") as origin, replacing(folder / file.name) as copy:
            shutil.copyfileobj(origin, copy, 1 << 20)
            if file.suffix == ".gz":
                copy.flush()
                _check_archive(Path(copy.name), file)
    except OSError as error:
        raise LandingError(f"{file} could not be copied to {folder}: {error}. Run again to go on.") from error


def _check_archive(copy: Path, file: Path) -> None:
    # Once landed it could never be replaced, and the pipeline would stumble over it at every update.
    try:
        with copy.open("rb") as stream, gzip.GzipFile(fileobj=stream) as archive:
            while archive.read(1 << 20):
                pass
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise LandingError(f"{file} is a damaged gzip file: {error}. Deliver it again, whole.") from None


def _number(days: str) -> int | None:
    if not days.strip():
        return None
    if not days.strip().isdecimal() or int(days) < 1:
        raise LandingError(f"`days` is {days!r}; it must be a whole number from 1 on, or empty for all.")
    return int(days)


if __name__ == "__main__":
    main()
