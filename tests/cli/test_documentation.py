"""What the documentation names is there: commands with their options, and the pages that it links to."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from lakeward.cli.main import lakeward

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
IN_TEXT = re.compile(r"`(lakeward [^`]+)`")
IN_A_BLOCK = re.compile(r"^\s*(?:\$ |- run: |uvx |pipx run |try next  +|[\w~/.-]+/bin/)*(lakeward [a-z-].*)$")
VARIABLE = re.compile(r"LAKEWARD_[A-Z_]*[A-Z]")
NO_COMMAND = re.compile(r"lakeward (set-up|test):|lakeward [^ ]+ ?…")


def commands(page: str) -> Iterator[str]:
    """What a page shows to be typed, in its text and in its blocks of code."""
    parts = re.split(r"^```.*$", page, flags=re.MULTILINE)
    for number, part in enumerate(parts):
        if number % 2:
            found = (IN_A_BLOCK.match(line) for line in part.splitlines())
            yield from (match[1] for match in found if match)
        else:
            yield from (" ".join(text.split()) for text in IN_TEXT.findall(part))


def wrong(command: str) -> str | None:
    """What of a command line is not there; None when all is."""
    words = shlex.split(command, comments=True)[1:]
    known: click.Command = lakeward
    while words and isinstance(known, click.Group) and not words[0].startswith("-"):
        inner = known.commands.get(words.pop(0))
        if inner is None:
            return "there is no such command"
        known = inner
    options = {name for each in known.params for name in (*each.opts, *each.secondary_opts)} | {
        "-h",
        "--help",
    }
    if known.name == "test":
        return None  # the other options are pytest's
    if known.context_settings.get("allow_interspersed_args") is False:
        # What follows the first word that is no option belongs to another program.
        others = known.make_context("", words, resilient_parsing=True).params["arguments"]
        words = words[: len(words) - len(others)] + [each for each in others[:1] if each.startswith("-")]
    given = {word.partition("=")[0].rstrip("…") for word in words if re.match(r"--?[a-z]", word)}
    return f"it has no {', '.join(sorted(given - options))}" if given - options else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_is_there_with_its_options(page: Path) -> None:
    shown = [each for each in commands(page.read_text(encoding="utf-8")) if not NO_COMMAND.match(each)]
    assert {each: why for each in shown if (why := wrong(each)) is not None} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    names = [page.relative_to(ROOT / "docs").as_posix() for page in PAGES[1:]]
    assert [name for name in names if f"({name})" not in index] == ["index.md"]


@pytest.fixture(scope="module")
def variables() -> set[str]:
    """Those that the sources and the tests speak of."""
    files = [file for folder in ("src", "tests") for file in (ROOT / folder).rglob("*.py")]
    return {name for file in files for name in VARIABLE.findall(file.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_variable_of_a_page_is_one_that_something_reads(page: Path, variables: set[str]) -> None:
    assert set(VARIABLE.findall(page.read_text(encoding="utf-8"))) - variables == set()
