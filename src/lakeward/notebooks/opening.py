"""From a path to the notebook that stands there."""

from __future__ import annotations

from pathlib import Path

from lakeward.errors import ConfigurationError
from lakeward.notebooks.cells import Cell, Notebook
from lakeward.notebooks.including import notebook_at
from lakeward.notebooks.parsing import SUFFIXES, parse

__all__ = ["opened"]


def opened(path: Path) -> tuple[Path, Notebook]:
    """The notebook at `path`, with or without its extension. Raises ConfigurationError."""
    found = notebook_at(str(path.absolute()), Path("/"))
    if found is None:
        raise ConfigurationError("NOTEBOOK_NOT_FOUND", f"There is no notebook {path}.")
    if found.suffix not in SUFFIXES:
        forms = ", ".join(SUFFIXES)
        raise ConfigurationError("NOTEBOOK_INVALID", f"{path} ends with none of {forms}.")
    content = found.read_bytes()
    try:
        notebook = parse(content, found.suffix)
        if notebook is None:
            language = {".py": "python", ".sql": "sql"}[found.suffix]
            text = content.decode("utf-8-sig")
            notebook = Notebook(language, "source", (Cell(1, language, text),))
    except ValueError as error:
        raise ConfigurationError("NOTEBOOK_INVALID", f"{found}: {error}.") from None
    return found, notebook
