"""The page of compatibility, out of what ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.acceptance.sample import Sample

__all__ = ["Verdict", "as_markdown"]

_INTRODUCTION = """\
# Public pipelines that run here

Source files of public repositories, unchanged, on small inputs of our own; what must come out is worked out
by hand. Made by `LAKEWARD_SAMPLES=<checkouts> LAKEWARD_COMPATIBILITY=docs/compatibility.md pytest -m slow
tests/acceptance`.

"""


@dataclass(frozen=True)
class Verdict:
    """What became of one sample."""

    sample: Sample
    state: str
    datasets: int
    error: str


def as_markdown(verdicts: Sequence[Verdict]) -> str:
    """A row a sample, and a row a feature with the samples that show it."""
    lines = ["| sample | repository | verdict | datasets |", "|---|---|---|---|"]
    for verdict in verdicts:
        sample = verdict.sample
        repository = f"[{sample.repository}](https://github.com/{sample.repository})"
        lines.append(f"| {sample.key} | {repository} | {_word(verdict)} | {verdict.datasets} |")
    lines += ["", "## Features", "", "| feature | verdict | samples |", "|---|---|---|"]
    for feature in sorted({feature for verdict in verdicts for feature in verdict.sample.features}):
        shown = [verdict for verdict in verdicts if feature in verdict.sample.features]
        runs = "runs" if any(verdict.state == "COMPLETED" for verdict in shown) else "fails"
        lines.append(f"| {feature} | {runs} | {', '.join(verdict.sample.key for verdict in shown)} |")
    return _INTRODUCTION + "\n".join(lines) + "\n"


def _word(verdict: Verdict) -> str:
    if verdict.state == "COMPLETED":
        return "runs"
    reason = verdict.error.split("\n")[0].replace("|", "\\|")
    return f"fails: {reason[:160]}"
