"""The corpus as data: statements and what is expected of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Case:
    """One statement: the rows it gives, or the condition it fails with; `rows` None: not looked at."""

    where: str
    text: str
    rows: list[list[Any]] | None
    columns: list[str] | None
    condition: str | None


def files() -> list[Path]:
    """All files of the corpus."""
    return sorted(CORPUS.glob("*.sql"))


def cases(path: Path) -> Iterator[Case]:
    """The statements of one file, in order."""
    lines: list[str] = []
    columns: list[str] | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("--= "):
            columns = [name.strip() for name in line[4:].split(",")]
        elif line.startswith(("-->", "--! ")):
            expected = line[4:].strip()
            failure = expected if line.startswith("--!") else None
            rows = None if failure or expected == "ok" else json.loads(f"[{expected}]")
            text = "\n".join(lines).strip()
            yield Case(f"{path.name}:{number}", text, rows, columns, failure)
            lines, columns = [], None
        else:
            lines.append(line)
    assert not "".join(lines).strip(), f"{path.name} ends with a statement of which nothing is expected"
