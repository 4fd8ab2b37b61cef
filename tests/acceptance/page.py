"""The public pipelines on the page of compatibility, by what became of them when they last ran."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.acceptance.sample import Sample
from tests.acceptance.samples import SAMPLES

__all__ = ["RAN", "Verdict", "keep", "samples_as_markdown"]

RAN = Path(__file__).parent / "ran.json"

_INTRODUCTION = """\
## Public pipelines that run here

Source files of public repositories, unchanged, on small inputs of our own; what must come out is worked out
by hand. Packages and model functions that they take from elsewhere have stand-ins. Kept by
`LAKEWARD_SAMPLES=<checkouts> LAKEWARD_KEEP=1 pytest -m slow tests/acceptance`.

"""


@dataclass(frozen=True)
class Verdict:
    """What became of the sample `key`."""

    key: str
    state: str
    datasets: int
    error: str


def keep(verdict: Verdict) -> None:
    """Write a verdict down; those of other samples stay."""
    known = {each["key"]: each for each in json.loads(RAN.read_text(encoding="utf-8"))}
    known[verdict.key] = asdict(verdict)
    there = [known[sample.key] for sample in SAMPLES if sample.key in known]
    RAN.write_text(json.dumps(there, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def samples_as_markdown() -> str:
    """A row a sample, and a row a feature with the samples that show it."""
    verdicts = {each["key"]: Verdict(**each) for each in json.loads(RAN.read_text(encoding="utf-8"))}
    lines = ["| sample | repository | verdict | datasets |", "|---|---|---|---|"]
    for sample in SAMPLES:
        repository = f"[{sample.repository}](https://github.com/{sample.repository})"
        verdict = verdicts.get(sample.key)
        datasets = verdict.datasets if verdict else ""
        lines.append(f"| {sample.key} | {repository} | {_word(verdict)} | {datasets} |")
    lines += ["", "| feature | samples |", "|---|---|"]
    for feature in sorted({feature for sample in SAMPLES for feature in sample.features}):
        shown = [sample.key for sample in SAMPLES if _shows(sample, feature, verdicts.get(sample.key))]
        if shown:
            lines.append(f"| {feature} | {', '.join(shown)} |")
    return _INTRODUCTION + "\n".join(lines) + "\n"


def _shows(sample: Sample, feature: str, verdict: Verdict | None) -> bool:
    return feature in sample.features and verdict is not None and verdict.state == "COMPLETED"


def _word(verdict: Verdict | None) -> str:
    if verdict is None:
        return "not run"
    if verdict.state == "COMPLETED":
        return "runs"
    reason = verdict.error.split("\n")[0].replace("|", "\\|")
    return f"fails: {reason[:160]}"
