"""Which files are the sources of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lakeward.errors import ConfigurationError

__all__ = ["SUFFIXES", "find"]

SUFFIXES = (".py", ".sql", ".ipynb")
"""The forms of pipeline sources that can be run."""


def find(paths: Sequence[Path]) -> list[Path]:
    """The source files that `paths` mean, each once, in a stable order.

    A folder means every source below it; folders that are Python packages (with an `__init__.py`) are
    imported by sources and are none themselves. Raises ConfigurationError for a path that is not there
    or holds no source.
    """
    found: dict[Path, None] = {}
    for path in map(Path.absolute, paths):
        if path.is_dir():
            inside = list(_below(path))
            if not inside:
                raise ConfigurationError(
                    "PIPELINE_SOURCE_NOT_FOUND",
                    f"The folder {path} holds no pipeline source ({_listed()}).",
                    next_step="Name the folder that holds the dataset files.",
                )
            found.update(dict.fromkeys(inside))
        elif any(mark in path.name for mark in "*?[") and (matching := _matching(path)):
            found.update(dict.fromkeys(matching))
        elif path.is_file():
            if path.suffix not in SUFFIXES:
                raise ConfigurationError(
                    "NOT_SUPPORTED",
                    f"{path} is no pipeline source: it ends with none of {_listed()}.",
                    next_step="Give files of these forms, or folders of them.",
                )
            found[path] = None
        else:
            raise ConfigurationError("PIPELINE_SOURCE_NOT_FOUND", f"There is no pipeline source at {path}.")
    if not found:
        raise ConfigurationError("PIPELINE_SOURCE_NOT_FOUND", "No pipeline source was named.")
    return list(found)


def _below(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        if entry.is_dir():
            if not (entry / "__init__.py").exists():
                yield from _below(entry)
        elif entry.suffix in SUFFIXES and entry.name != "__init__.py":
            yield entry


def _matching(pattern: Path) -> list[Path]:
    files = sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))
    return [file for file in files if file.is_file() and file.suffix in SUFFIXES]


def _listed() -> str:
    return ", ".join(SUFFIXES)
