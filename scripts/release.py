"""Facts of a release, from the two places that have them: the package's version and CHANGELOG.md.

`python scripts/release.py check v1.2.3` refuses a tag that does not fit; `notes 1.2.3` prints its section of
the changelog; `version` prints the package's version.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What README.md says as long as nothing is published; a release must replace it.
UNRELEASED_NOTICE = "No release is published yet"
_HEADING = re.compile(r"^## (?P<name>\S+)(?P<rest>.*)$", re.MULTILINE)
_RELEASED = re.compile(r"\d+\.\d+\.\d+\S*")


def version(root: Path = ROOT) -> str:
    """Return the version, which `src/lakeward/__init__.py` alone declares."""
    text = (root / "src" / "lakeward" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise SystemExit("src/lakeward/__init__.py declares no __version__.")
    return found[1]


def sections(root: Path = ROOT) -> dict[str, str]:
    """Return the sections of CHANGELOG.md by their names: `Unreleased` and versions."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = list(_HEADING.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return {head["name"]: text[head.end() : end].strip() for head, end in zip(heads, ends, strict=True)}


def released(root: Path = ROOT) -> bool:
    """Return whether the changelog has the section of any version."""
    return any(_RELEASED.fullmatch(name) for name in sections(root))


def problems(tag: str, root: Path = ROOT) -> list[str]:
    """Return what prevents a release of `tag`; empty when nothing does."""
    found = []
    if tag != f"v{version(root)}":
        found.append(f"The tag is {tag}, the package's version {version(root)}.")
    changes = sections(root)
    if not changes.get(version(root)):
        found.append(f"CHANGELOG.md has no entries under `## {version(root)}`.")
    if changes.get("Unreleased"):
        found.append(f"CHANGELOG.md has entries under `## Unreleased`: move them to `## {version(root)}`.")
    if UNRELEASED_NOTICE in (root / "README.md").read_text(encoding="utf-8"):
        found.append(f"README.md says `{UNRELEASED_NOTICE}`: remove the notice and its instructions.")
    return found


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Run one of the three commands and return the exit code."""
    match list(arguments):
        case ["version"]:
            print(version(root))
            return 0
        case ["check", tag]:
            found = problems(tag, root)
            print("\n".join(found) or f"{tag} can be released.")
            return 1 if found else 0
        case ["notes", name] if sections(root).get(name.removeprefix("v")):
            print(sections(root)[name.removeprefix("v")])
            return 0
        case ["notes", name]:
            print(f"CHANGELOG.md has no section {name.removeprefix('v')}.", file=sys.stderr)
            return 1
    print((__doc__ or "").strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
