"""A report of `lakeward check` for people: a summary, then what needs a look, the worst first."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import click

from lakeward.check import VERDICTS, Finding, Report, Verdict, what_will_run
from lakeward.check import constructs as by_construct
from lakeward.cli.formatting import format_duration, plain

MOST_PLACES = 3
MOST_NAMES = 8
MOST_FINE_NAMES = 40
LIMIT = 60
"""Lines of a report without --all."""

TITLES: dict[Verdict, str] = {
    "runs_as_is": "runs as is",
    "runs_with_lakeward": "runs with lakeward",
    "differs": "differs",
    "needs_seed": "needs a seed",
    "fails_on_serverless": "would fail on serverless",
    "refused": "refused",
}
COLOURS: dict[Verdict, str] = {
    "runs_as_is": "green",
    "runs_with_lakeward": "green",
    "differs": "cyan",
    "needs_seed": "yellow",
    "fails_on_serverless": "yellow",
    "refused": "red",
}
FINE: frozenset[Verdict] = frozenset(("runs_as_is", "runs_with_lakeward"))
"""Verdicts that need no action: only their constructs are listed."""


def report_lines(report: Report, *, terminal: bool, limit: int | None = LIMIT) -> Iterator[str]:
    """Yield the lines to print; colours and a width only for a terminal.

    Each advice and each error appears once, with the constructs or places that it is for. At most `limit`
    lines are printed; the worst verdicts have priority, and no verdict disappears. None prints everything.
    """
    width = min(shutil.get_terminal_size().columns, 120) if terminal else None
    style = _Style(width, colour=terminal and "NO_COLOR" not in os.environ, all_names=limit is None)
    header = [style.paint(what_will_run(report), bold=True), "", *_counts(report)]
    yield from header
    sections = list(_sections(report, style))
    shown = [len(section.blocks) for section in sections]
    if limit is not None:
        shown = _fitting(sections, limit - len(header))
    for section, number in zip(sections, shown, strict=True):
        yield ""
        yield section.title
        for block in section.blocks[:number]:
            yield from block
        if number < len(section.blocks):
            yield f"  and {len(section.blocks) - number:,} more: --all lists them"


@dataclass(frozen=True)
class _Section:
    """A verdict, or the unread files: its heading, and the lines of each group of findings."""

    title: str
    blocks: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class _Style:
    """How to print: the width, None for no wrapping, and whether lists of names are complete."""

    width: int | None
    colour: bool
    all_names: bool

    def paint(self, text: str, **style: object) -> str:
        return click.style(text, **style) if self.colour else text  # type: ignore[arg-type]

    def names(self, names: Sequence[str], most: int = MOST_NAMES) -> str:
        shown = names if self.all_names else names[:most]
        rest = f" and {len(names) - len(shown):,} more" if len(shown) < len(names) else ""
        return ", ".join(plain(name, keep="") for name in shown) + rest


def _fitting(sections: Sequence[_Section], room: int) -> list[int]:
    """Return how many blocks of each section fit into `room` lines: one of each, then the first ones."""
    shown = [1] * len(sections)
    # A blank line, the title, the first block, and perhaps how many more there are.
    room -= sum(3 + len(section.blocks[0]) for section in sections)
    for number, section in enumerate(sections):
        for block in section.blocks[1:]:
            if len(block) > room:
                return shown
            room -= len(block)
            shown[number] += 1
    return shown


def _sections(report: Report, style: _Style) -> Iterator[_Section]:
    if report.unread:
        blocks = tuple(_unread_blocks(report, style))
        yield _Section(style.paint("could not be read", fg="red", bold=True), blocks)
    for verdict in reversed(VERDICTS):
        grouped = by_construct(report, verdict)
        if not grouped:
            continue
        title = style.paint(TITLES[verdict], fg=COLOURS[verdict], bold=True)
        if verdict in FINE:
            text = style.names(list(grouped), MOST_FINE_NAMES)
            yield _Section(title, (tuple(_wrapped(text, style.width, "  ")),))
        else:
            yield _Section(title, tuple(_advice_blocks(grouped, report.base, style)))


def _advice_blocks(
    grouped: Mapping[str, list[Finding]], base: str, style: _Style
) -> Iterator[tuple[str, ...]]:
    by_advice: dict[str, dict[str, list[Finding]]] = {}
    for name, findings in grouped.items():
        by_advice.setdefault(findings[0].cure, {})[name] = findings
    for advice, constructs in by_advice.items():
        findings = [finding for each in constructs.values() for finding in each]
        yield (
            *(
                style.paint(line, bold=True)
                for line in _wrapped(style.names([*constructs]), style.width, "  ")
            ),
            *_wrapped(plain(advice, keep=""), style.width, "    → "),
            *(style.paint(f"    {plain(place, keep='')}", dim=True) for place in _places(findings, base)),
        )


def _unread_blocks(report: Report, style: _Style) -> Iterator[tuple[str, ...]]:
    by_reason: dict[str, list[str]] = {}
    for each in report.unread:
        by_reason.setdefault(each.reason, []).append(f"{report.base}{each.place}")
    for reason, places in by_reason.items():
        named = style.names(list(dict.fromkeys(places)), MOST_PLACES)
        yield tuple(_wrapped(f"{named}: {plain(reason, keep='')}", style.width, "  "))


def _counts(report: Report) -> Iterator[str]:
    files = ", ".join(f"{count:,} {kind}" for kind, count in report.files.items()) or "none"
    yield f"  files       {files} ({format_duration(report.seconds)}; profile {report.profile})"
    counted = [(verdict, len(by_construct(report, verdict))) for verdict in VERDICTS]
    summary = ", ".join(f"{count:,} {TITLES[verdict]}" for verdict, count in counted if count)
    yield f"  constructs  {summary or 'none'}"


def _places(findings: list[Finding], base: str) -> Iterator[str]:
    for finding in findings[:MOST_PLACES]:
        named = f" (target{'s' * (len(finding.targets) > 1)} {', '.join(finding.targets)})"
        yield f"{base}{finding.place}{named if finding.targets else ''}"
    if len(findings) > MOST_PLACES:
        yield f"and {len(findings) - MOST_PLACES:,} more"


def _wrapped(text: str, width: int | None, indent: str) -> Iterator[str]:
    if width is None:
        yield indent + text
        return
    further = " " * len(indent)
    yield from textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=further, break_long_words=False
    ) or [indent]
