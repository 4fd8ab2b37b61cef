"""Check the pages of the documentation: links to files, pictures and headings, and repeated headings.

Addresses of the web are not requested: a run without a network gives the same result.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md")
_CODE = re.compile(r"^( *)```.*?^\1```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_TOP = re.compile(r"^##? .+?(?= *#*$)", re.MULTILINE)
_ANCHOR = re.compile(r'<a (?:id|name)="([^"]+)"')
_WEB = ("http://", "https://", "mailto:")


def broken_links(root: Path) -> Iterator[str]:
    """Yield the links that lead nowhere, as `page: link`."""
    for pattern in PAGES:
        for page in sorted(root.glob(pattern)):
            text = _CODE.sub("", page.read_text(encoding="utf-8"))
            for target in _LINK.findall(text):
                if not target.startswith(_WEB) and not _leads_somewhere(page, target):
                    yield f"{page.relative_to(root)}: {target}"


def repeated_headings(root: Path) -> Iterator[str]:
    """Yield second titles of a page, and sections that it has twice, as `page: heading`."""
    for pattern in PAGES:
        for page in sorted(root.glob(pattern)):
            seen: set[str] = set()
            for heading in _TOP.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
                is_title = heading.startswith("# ")
                if heading in seen or (is_title and any(each.startswith("# ") for each in seen)):
                    yield f"{page.relative_to(root)}: {heading}"
                seen.add(heading)


def _leads_somewhere(page: Path, target: str) -> bool:
    name, _, anchor = unquote(target).partition("#")
    file = page.parent / name if name else page
    if not file.exists():
        return False
    return not anchor or file.suffix != ".md" or anchor in headings(file)


@cache
def headings(page: Path) -> frozenset[str]:
    """Return the anchors of a page, as GitHub makes them of its headings, and those that it declares.

    Letters are made lower case, blanks become hyphens, and punctuation is left out.
    """
    text = page.read_text(encoding="utf-8")
    found = set(_ANCHOR.findall(text))
    counts: dict[str, int] = {}
    without_code = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for heading in _HEADING.findall(without_code):
        plain = re.sub(r"\]\([^)]*\)", "]", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = counts.get(slug, 0)
        counts[slug] = count + 1
        found.add(f"{slug}-{count}" if count else slug)
    return frozenset(found)


def main() -> int:
    """Print broken links and repeated headings; return 1 if there are any."""
    found = [f"{each}: leads nowhere" for each in broken_links(ROOT)]
    found += [f"{each}: the page has it already" for each in repeated_headings(ROOT)]
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
