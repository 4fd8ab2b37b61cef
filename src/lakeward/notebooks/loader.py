"""Finds notebooks by path and loads them: source exports and `.ipynb`."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.errors import ConfigurationError, NotebookError
from lakeward.notebooks.ipynb import parse_ipynb
from lakeward.notebooks.model import Cell, Notebook
from lakeward.notebooks.source_format import PYTHON_MARK, SQL_MARK, parse_export
from lakeward.session import current_settings, find_platform_file, is_platform_path
from lakeward.suggestions import close_matches

if TYPE_CHECKING:
    from lakeward.session import Settings

SUFFIXES = (".py", ".sql", ".ipynb")
"""The forms that a notebook's file may have."""

ABOUT_ARCHIVES = (
    "An archive holds several notebooks: import it into a workspace, and export them as source files."
)
_OTHER_LANGUAGES = {".scala": "Scala", ".r": "R"}
_EXPORTS = {".py": (PYTHON_MARK, "python"), ".sql": (SQL_MARK, "sql")}


def parse(content: bytes, suffix: str) -> Notebook | None:
    """Return the notebook in a file with `suffix`; None for a plain Python or SQL file.

    Raises ValueError for an invalid `.ipynb` and for text that is not UTF-8.

    >>> [c.source for c in parse(b"-- Databricks notebook source\\nselect 1", ".sql").cells]
    ['-- Databricks notebook source\\nselect 1']
    """
    if suffix == ".ipynb":
        return parse_ipynb(content)
    language = exported_language(content, suffix)
    if language is None:
        return None
    return parse_export(content.decode("utf-8-sig").replace("\r\n", "\n"), language)


def exported_language(content: bytes, suffix: str) -> str | None:
    """Return the language of a notebook that is exported as source; None for a plain Python or SQL file."""
    mark, language = _EXPORTS.get(suffix, (None, None))
    return language if mark is not None and content.removeprefix(codecs.BOM_UTF8).startswith(mark) else None


def find_notebook(
    path: str, folder: Path, root: Path | None = None, *, settings: Settings | None = None
) -> Path | None:
    """Return the file of a notebook that is named with or without its extension, None without one.

    Args:
        path: Relative to `folder`, or absolute: as it is, a workspace path (`find_platform_file`), or
            below `root`.
        folder: The folder of the notebook that names it.
        root: The folder of the bundle; None takes an absolute path as it is.
        settings: Those with the mounts; default: those of the session.

    Raises:
        NotebookError: PATH_AMBIGUOUS for a workspace path that several files of the repository end with.
    """
    if root is not None and is_platform_path(path):
        try:
            found = find_platform_file(
                path, root, settings=settings or current_settings(), extensions=SUFFIXES
            )
        except ConfigurationError as error:
            raise NotebookError(error.condition, error.message, next_step=error.next_step) from None
        if found is not None:
            return found
    places = [folder / path]
    if path.startswith("/") and root is not None:
        own = path.removeprefix("/Workspace").lstrip("/")
        places.append(root / own)
    for place in places:
        for candidate in (place, *(place.with_name(place.name + suffix) for suffix in SUFFIXES)):
            if candidate.is_file():
                return candidate.resolve()
    return None


def load_notebook(path: Path) -> tuple[Path, Notebook]:
    """Return the notebook at `path`, written with or without its extension. Raises ConfigurationError."""
    if path.is_dir():
        raise ConfigurationError(
            "NOTEBOOK_NOT_FOUND",
            f"{path} is a folder, not a notebook.",
            next_step="Name one notebook in it, or run pipeline files with `lakeward pipeline`.",
        )
    found = find_notebook(str(path.absolute()), Path("/"))
    if found is None:
        _refuse_language(path)
        place = "" if path.is_absolute() else f" in {Path.cwd()}"
        raise ConfigurationError(
            "NOTEBOOK_NOT_FOUND",
            f"There is no notebook {path}{place}.",
            next_step=similar_notebooks(path, str(path)),
        )
    _refuse_language(found)
    if found.suffix not in SUFFIXES:
        forms = ", ".join(SUFFIXES)
        raise ConfigurationError(
            "NOTEBOOK_INVALID",
            f"{path} ends with none of {forms}.",
            next_step=ABOUT_ARCHIVES if found.suffix.lower() == ".dbc" else None,
        )
    content = found.read_bytes()
    try:
        notebook = parse(content, found.suffix)
        if notebook is None:
            language = {".py": "python", ".sql": "sql"}[found.suffix]
            text = content.decode("utf-8-sig")
            notebook = Notebook(language, "source", (Cell(1, language, text),))
    except UnicodeDecodeError:
        raise ConfigurationError(
            "NOTEBOOK_INVALID",
            f"{found}: it is not UTF-8 text.",
            next_step="Save it as UTF-8, if it is a notebook.",
        ) from None
    except ValueError as error:
        raise ConfigurationError(
            "NOTEBOOK_INVALID",
            f"{found}: {error}.",
            next_step="Correct the file, or export the notebook again.",
        ) from None
    return found, notebook


def similar_notebooks(path: Path, given: str) -> str | None:
    """Return the sentence that suggests notebooks of the folder with a similar name, spelled like `given`."""
    folder = path.absolute().parent
    if not folder.is_dir():
        return f"There is no folder {folder}, either."
    has_suffix = path.suffix in SUFFIXES
    files = sorted(each for each in folder.iterdir() if each.suffix in SUFFIXES)
    # With their endings, short names of any letters would resemble each other.
    stems = close_matches(path.stem if has_suffix else path.name, [each.stem for each in files])
    close = [each.name for stem in stems for each in files if each.stem == stem] if has_suffix else stems
    start = given[: len(given) - len(path.name)]
    return f"Did you mean {' or '.join(start + name for name in close)}?" if close else None


def _refuse_language(path: Path) -> None:
    """Raise ConfigurationError for a Scala or R notebook, written with or without its extension."""
    for suffix, language in _OTHER_LANGUAGES.items():
        named = path.suffix.lower() == suffix
        if (named and path.is_file()) or path.with_name(path.name + suffix).is_file():
            raise ConfigurationError(
                "NOTEBOOK_INVALID",
                f"{path} is a notebook in {language}, which cannot be run here.",
                next_step="Python and SQL notebooks can.",
            )
