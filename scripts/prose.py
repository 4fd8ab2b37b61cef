"""Check the wording of code, comments and docs against the word list of docs/style.md."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("src/**/*.py", "src/**/*.java", "tests/**/*.py", "docs/**/*.md", "scripts/pages/*.py", "*.md")
# The pages that explain the list, and this table.
EXEMPT = {"docs/style.md", "docs/glossary.md", "scripts/prose.py"}
# Word -> what to write instead.
WORDS = {
    "anybody": "a user, another process",
    "anew": "again, from scratch, full refresh",
    "as it stands": "unchanged",
    "asked": "requested, called, queried",
    "beside": "next to, in addition to",
    "dear": "expensive, slow",
    "goes on": "continues",
    "carr(?:y|ies|ied) out": "run, execute",
    "nobody": "no user, no caller",
    "says? so": "reports it, requires it",
    "somebody": "a user, another process",
    "stands (?:for|behind|beside|in)": "represents, is behind, replaces",
    "there is none": "none exists",
    "told": "reported, passed, notified",
    "who asks": "the caller",
    "whoever": "the caller, the process that",
}
_PATTERN = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)


def main() -> int:
    """Check all files and return the exit code."""
    found = [(name, *each) for name, text in sorted(_texts()) for each in occurrences(text)]
    for name, line, word, instead in found:
        print(f"{name}:{line}: '{word}': write {instead} (docs/style.md)")
    return 1 if found else 0


def occurrences(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number, word and replacement of every listed word.

    >>> list(occurrences("It starts\\nanew."))
    [(2, 'anew', 'again, from scratch, full refresh')]
    """
    for number, line in enumerate(text.splitlines(), 1):
        for match in _PATTERN.finditer(line.replace("_", " ")):
            word = match.group()
            instead = next(WORDS[each] for each in WORDS if re.fullmatch(each, word, re.IGNORECASE))
            yield number, word, instead


def _texts() -> Iterator[tuple[str, str]]:
    for pattern in SOURCES:
        for path in ROOT.glob(pattern):
            name = path.relative_to(ROOT).as_posix()
            if name not in EXEMPT:
                yield name, path.read_text(encoding="utf-8", errors="replace")


if __name__ == "__main__":
    sys.exit(main())
