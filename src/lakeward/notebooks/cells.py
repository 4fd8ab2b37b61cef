"""A notebook as its cells, whatever the form of its file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["Cell", "LineMagic", "Notebook", "line_magics", "named_magic"]

_NAMED = re.compile(r"%%?([A-Za-z][\w-]*)[ \t]*")
# In Python a line may begin with % as well: only names that are magics on the platform count there.
_IN_PYTHON = re.compile(
    r"^(?P<indent>[ \t]*)(?:%%?(?P<name>python|py|pip|conda|run|fs|sh|md|sql|matplotlib|load_ext|autoreload"
    r"|reload_ext|env|time|timeit|capture|config|restart_python|skip|tensorboard|cd|pwd|ls|who|whos)\b|(?P<shell>!))"
    r"[ \t]*(?P<text>.*)$"
)


@dataclass(frozen=True)
class Cell:
    """One cell, or the part of one that has a language of its own.

    `language` is `python`, `sql` …, or the name of a magic (`run`, `pip`, `md`). In `source` the magic's own
    name is blanked out and the marks of a source file are taken away: `line` is where it starts (in the file;
    in an `.ipynb` in the cell), `indent` how many characters stand before each of its lines in the file.
    """

    number: int
    language: str
    source: str
    line: int = 1
    indent: int = 0
    title: str = ""
    is_magic: bool = False


@dataclass(frozen=True)
class Notebook:
    """The cells in their order. `language` is that of cells without a magic."""

    language: str
    form: Literal["source", "ipynb"]
    cells: tuple[Cell, ...]

    def file_of(self, cell: Cell, file: str) -> str:
        """What names the cell's text in tracebacks: its file, and in an `.ipynb` its number too."""
        return file if self.form == "source" else f"{file}#cell-{cell.number}"


@dataclass(frozen=True)
class LineMagic:
    """A magic that stands on a line of Python code; `line` counts from 1 in the cell."""

    name: str
    text: str
    line: int
    indent: str


def named_magic(source: str) -> tuple[str, str] | None:
    """The magic that a cell begins with and the source with its name blanked out; None without one.

    >>> named_magic("%sql select 1")
    ('sql', '     select 1')
    """
    start = len(source) - len(source.lstrip())
    found = _NAMED.match(source, start)
    if found is None:
        return None
    name = found[1].lower()
    return {"py": "python"}.get(name, name), source[:start] + " " * (found.end() - start) + source[
        found.end() :
    ]


def line_magics(source: str) -> Iterator[LineMagic]:
    """The magics on lines of their own in Python code.

    >>> [(m.name, m.text) for m in line_magics("x = (5\\n  % b)\\n%pip install a\\n!ls")]
    [('pip', 'install a'), ('sh', 'ls')]
    """
    for number, line in enumerate(source.split("\n"), start=1):
        found = _IN_PYTHON.match(line)
        if found is not None:
            yield LineMagic(found["name"] or "sh", found["text"], number, found["indent"])
