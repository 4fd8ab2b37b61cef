"""Code, tests and pages cite rules by ids that a page under docs/ defines, and in no other way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "tests", "fixtures", "docs", "scripts", "benchmarks")
SUFFIXES = {".py", ".java", ".md", ".txt"}

_ID = r"(?:AL|SDP|BN|DM|INV)-\d+(?:\.(?:\d+|[a-z]\b))*(?:-R\d+)?"
CITED = re.compile(rf"\b{_ID}")
DEFINED = re.compile(rf'^#+ ({_ID}) |<a id="({_ID})">', re.MULTILINE)
# Sections of documents that are not in the repository. RFC sections are public.
FOREIGN = re.compile(
    r"(?<!RFC \d{4} )\u00a7|\bspec(?:ification)?\s+\w+\.md|\binvariants?\s+\d", re.IGNORECASE
)


def defined_ids() -> set[str]:
    """Return the ids of rules and sections that pages define, and of the sections around them."""
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")]
    ids = {first or second for page in pages for first, second in DEFINED.findall(page)}
    return ids | {each[:end] for each in ids for end, char in enumerate(each) if char == "."}


def unresolved_ids(text: str, defined: set[str]) -> set[str]:
    """Return the ids that a text cites and no page defines."""
    return set(CITED.findall(text)) - defined


def sources(*folders: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of the files of these folders, apart from this one."""
    for path in (path for folder in folders for path in sorted((ROOT / folder).rglob("*"))):
        if path.suffix in SUFFIXES and path != Path(__file__).resolve():
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def test_every_cited_id_is_defined_by_a_page() -> None:
    defined = defined_ids()
    unresolved = {name: ids for name, text in sources(*FOLDERS) if (ids := unresolved_ids(text, defined))}
    assert unresolved == {}


def test_code_and_tests_cite_rules_by_id_only() -> None:
    cited = {
        name: found for name, text in sources("src", "tests", "fixtures") if (found := FOREIGN.findall(text))
    }
    assert cited == {}


@pytest.mark.parametrize("prefix", ["AL", "SDP", "BN", "DM", "INV"])
def test_every_group_of_ids_has_a_page(prefix: str) -> None:
    assert [each for each in defined_ids() if each.startswith(f"{prefix}-")]


def test_no_id_is_defined_twice() -> None:
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")]
    anchors = [each for page in pages for each in re.findall(rf'<a id="({_ID})">', page)]
    assert sorted(anchors) == sorted(set(anchors))


def test_rules_and_sections_resolve_and_others_do_not() -> None:
    defined = defined_ids()
    assert (
        unresolved_ids("AL-2.2.11, AL-2, AL-8.16 (SDP-1.3-R4). SDP-3.3.a BN-2.4 DM-4 INV-14.", defined)
        == set()
    )
    wrong = {"AL-2.2.99", "SDP-1.3-R99", "SDP-9", "SDP-3.3.z", "BN-2.9", "DM-99", "INV-25"}
    assert unresolved_ids(" ".join(wrong), defined) == wrong


@pytest.mark.parametrize("text", ["spec \u00a73.2", "spec bundle.md", "Invariant 7", "(invariants\n1 and 2)"])
def test_references_to_documents_elsewhere_are_found(text: str) -> None:
    assert FOREIGN.search(text)


def test_sections_of_an_rfc_may_be_cited() -> None:
    assert not FOREIGN.search("as RFC 9112 \u00a73.2.2 demands")
