"""A report of `lakeward check` for people: a summary, then what needs a look, the worst first."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Iterator

import click

from lakeward.check import VERDICTS, Finding, Report, Verdict, what_will_run
from lakeward.check import constructs as by_construct
from lakeward.cli.words import duration, plain

__all__ = ["lines"]

MOST_PLACES = 3

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
"""Verdicts that need no look are told by their constructs alone."""


def lines(report: Report, *, terminal: bool) -> Iterator[str]:
    """The lines to print; colours and a width only for a terminal."""
    width = min(shutil.get_terminal_size().columns, 120) if terminal else None
    colour = terminal and "NO_COLOR" not in os.environ

    def paint(text: str, **style: object) -> str:
        return click.style(text, **style) if colour else text  # type: ignore[arg-type]

    yield paint(what_will_run(report), bold=True)
    yield ""
    yield from _counts(report)
    for verdict in reversed(VERDICTS):
        grouped = by_construct(report, verdict)
        if not grouped:
            continue
        yield ""
        yield paint(TITLES[verdict], fg=COLOURS[verdict], bold=True)
        if verdict in FINE:
            yield from _wrapped(", ".join(plain(name, keep="") for name in grouped), width, "  ")
            continue
        for name, findings in grouped.items():
            yield f"  {paint(plain(name, keep=''), bold=True)}"
            yield from _wrapped(plain(findings[0].cure, keep=""), width, "    → ")
            for place in _places(findings, report.base):
                yield paint(f"    {plain(place, keep='')}", dim=True)
    if report.unread:
        yield ""
        yield paint("could not be read", fg="red", bold=True)
        for each in report.unread:
            yield from _wrapped(plain(f"{report.base}{each.place}: {each.reason}", keep=""), width, "  ")


def _counts(report: Report) -> Iterator[str]:
    files = ", ".join(f"{count:,} {kind}" for kind, count in report.files.items()) or "none"
    yield f"  files       {files} ({duration(report.seconds)}; profile {report.profile})"
    counted = [(verdict, len(by_construct(report, verdict))) for verdict in VERDICTS]
    told = ", ".join(f"{count:,} {TITLES[verdict]}" for verdict, count in counted if count)
    yield f"  constructs  {told or 'none'}"


def _places(findings: list[Finding], base: str) -> Iterator[str]:
    for finding in findings[:MOST_PLACES]:
        yield f"{base}{finding.place}"
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
