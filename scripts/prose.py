"""Check the wording of code, comments and docs against the word list of docs/style.md.

`scripts/prose.json` holds the occurrences that each file had when the list was introduced. A file may have
fewer, never more; a new file has none. `python scripts/prose.py --update` lowers the numbers after a rewrite.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = ROOT / "scripts" / "prose.json"
SOURCES = ("src/**/*.py", "src/**/*.java", "tests/**/*.py", "docs/**/*.md", "scripts/pages/*.py", "*.md")
# The pages that explain the list, and this table.
EXEMPT = {"docs/style.md", "docs/glossary.md", "scripts/prose.py"}
# Word -> what to write instead.
WORDS = {
    "anew": "again, from scratch, full refresh",
    "asked": "requested, called, queried",
    "beside": "next to, in addition to",
    "dear": "expensive, slow",
    "goes on": "continues",
    "carr(?:y|ies|ied) out": "run, execute",
    "nobody": "no user, no caller",
    "somebody": "a user, another process",
    "stands (?:for|behind|beside|in)": "represents, is behind, replaces",
    "there is none": "none exists",
    "told": "reported, passed, notified",
    "whoever": "the caller, the process that",
}
_PATTERN = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)


def main(arguments: list[str]) -> int:
    """Check all files, or record today's numbers with `--update`; return the exit code."""
    found = {name: list(occurrences(text)) for name, text in _texts()}
    counts = {name: len(each) for name, each in found.items() if each}
    allowed: dict[str, int] = json.loads(ALLOWED.read_text()) if ALLOWED.is_file() else {}
    if "--update" in arguments:
        ALLOWED.write_text(json.dumps(dict(sorted(counts.items())), indent=1) + "\n")
        return 0
    over = [name for name, count in sorted(counts.items()) if count > allowed.get(name, 0)]
    for name in over:
        for line, word, instead in found[name]:
            print(f"{name}:{line}: '{word}': write {instead}")
        print(f"{name}: {counts[name]} occurrences, {allowed.get(name, 0)} allowed (docs/style.md)")
    return 1 if over else 0


def occurrences(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number, word and replacement of every listed word.

    >>> list(occurrences("It starts\\nanew."))
    [(2, 'anew', 'again, from scratch, full refresh')]
    """
    for number, line in enumerate(text.splitlines(), 1):
        for match in _PATTERN.finditer(line):
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
    sys.exit(main(sys.argv[1:]))
