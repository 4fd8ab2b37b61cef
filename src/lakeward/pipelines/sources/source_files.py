"""Finds the source files of a pipeline."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from lakeward.errors import ConfigurationError
from lakeward.suggestions import did_you_mean

SUFFIXES = (".py", ".sql", ".ipynb")
"""The forms of pipeline sources that can be run."""


def find_sources(paths: Sequence[Path]) -> list[Path]:
    """Return the source files at `paths`, each once, in a stable order.

    A folder means every source below it. Python packages (folders with an `__init__.py`) are imported by
    sources and contain none. Raises ConfigurationError for a path that does not exist or contains no
    source.
    """
    found: dict[Path, None] = {}
    for path in map(Path.absolute, paths):
        if path.is_dir():
            inside = list(_sources_below(path))
            if not inside:
                raise ConfigurationError(
                    "PIPELINE_SOURCE_NOT_FOUND",
                    f"The folder {path} contains no pipeline source ({_suffix_list()}).",
                    next_step="Pass the folder that contains the dataset files.",
                )
            found.update(dict.fromkeys(inside))
        elif any(mark in path.name for mark in "*?[") and (matching := _glob_sources(path)):
            found.update(dict.fromkeys(matching))
        elif path.is_file():
            if path.suffix not in SUFFIXES:
                raise ConfigurationError(
                    "NOT_SUPPORTED",
                    f"{path} is not a pipeline source; sources end with {_suffix_list()}.",
                    next_step="Pass such files, or folders that contain them.",
                )
            found[path] = None
        else:
            near = path.parent.iterdir() if path.parent.is_dir() else ()
            raise ConfigurationError(
                "PIPELINE_SOURCE_NOT_FOUND",
                f"There is no pipeline source at {path}.",
                next_step=did_you_mean(path.name, [each.name for each in near]),
            )
    if not found:
        raise ConfigurationError(
            "PIPELINE_SOURCE_NOT_FOUND",
            "No pipeline source was given.",
            next_step="Name a file, or a folder that contains the dataset files.",
        )
    return list(found)


def _sources_below(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        if entry.is_dir():
            if not (entry / "__init__.py").exists():
                yield from _sources_below(entry)
        elif entry.suffix in SUFFIXES and entry.name != "__init__.py":
            yield entry


def _glob_sources(pattern: Path) -> list[Path]:
    files = sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))
    return [file for file in files if file.is_file() and file.suffix in SUFFIXES]


def _suffix_list() -> str:
    return ", ".join(SUFFIXES)


def common_root(sources: Sequence[Path]) -> Path:
    """Return the folder that contains all sources."""
    return Path(os.path.commonpath([source.parent for source in sources]))
