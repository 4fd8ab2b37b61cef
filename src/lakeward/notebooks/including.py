"""`%run`: which notebook is meant, and with which arguments."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from lakeward.notebooks.parsing import SUFFIXES

__all__ = ["Inclusion", "inclusion", "notebook_at"]


@dataclass(frozen=True)
class Inclusion:
    """A `%run` line: the path as written, and `$a="…"` arguments."""

    path: str
    arguments: dict[str, str] = field(default_factory=dict)


def inclusion(text: str) -> Inclusion:
    """Read what stands behind `%run`.

    >>> inclusion('"./a b" $x="1" $y=2')
    Inclusion(path='./a b', arguments={'x': '1', 'y': '2'})
    """
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    arguments = {}
    for word in words[1:]:
        name, _, value = word.lstrip("$").partition("=")
        if name:
            arguments[name] = value
    return Inclusion(words[0] if words else "", arguments)


def notebook_at(path: str, folder: Path, root: Path | None = None) -> Path | None:
    """The file of a notebook that is named with or without its extension, relative to `folder`.

    An absolute path is looked for as it is, then below `root`. None when there is no such file.
    """
    places = [folder / path]
    if path.startswith("/") and root is not None:
        own = path.removeprefix("/Workspace").lstrip("/")
        places.append(root / own)
    for place in places:
        for candidate in (place, *(place.with_name(place.name + suffix) for suffix in SUFFIXES)):
            if candidate.is_file():
                return candidate.resolve()
    return None
