"""What the doctor returns: diagnoses with their evidence, and subjects that could not be read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakeward.doctor.finding_table import FINDINGS

Evidence = Mapping[str, "int | float | str"]


@dataclass(frozen=True)
class Diagnosis:
    """One finding on one subject.

    Attributes:
        finding: Its id in the table of findings.
        subject: The table, dataset, query or stage, as the user names it.
        evidence: Figures by name; the finding declares the names and their order.
        fix: Statements, settings or edits that fix it.
        gain: The expected effect of the fix, in figures.
        statements: The part of `fix` that `--apply` may run; empty if that is not safe.
    """

    finding: str
    subject: str
    evidence: Evidence
    fix: tuple[str, ...]
    gain: str
    statements: tuple[str, ...] = ()

    def shown(self) -> dict[str, str]:
        """Return the evidence as texts: sizes with units, thousands with commas."""
        return {name: _shown(name, value) for name, value in self.evidence.items()}

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {
            "finding": self.finding,
            "title": FINDINGS[self.finding].title,
            "subject": self.subject,
            "evidence": dict(self.evidence),
            "fix": list(self.fix),
            "gain": self.gain,
            "safe": bool(self.statements),
        }


def diagnose(
    finding: str,
    subject: str,
    evidence: Evidence,
    *,
    names: Mapping[str, str] | None = None,
    has_definition: bool = False,
) -> Diagnosis:
    """Return the diagnosis of a finding with its fix and gain filled in.

    Args:
        finding: Id in the table of findings.
        subject: What the user calls the table, query or dataset.
        evidence: Figures by name.
        names: Texts of the fix other than figures: the quoted table, settings.
        has_definition: Whether the subject is a streaming table or materialized view.

    Raises:
        ValueError: The evidence is not what the finding declares.
    """
    declared = FINDINGS[finding]
    if list(evidence) != [name for name, _ in declared.evidence]:
        raise ValueError(f"{finding} declares {declared.evidence}, not {list(evidence)}")
    values = {**{name: _shown(name, value) for name, value in evidence.items()}, **(names or {})}
    gain = declared.gain.format_map(values)
    edit = declared.declared.format_map(values) if has_definition else ""
    if edit:
        return Diagnosis(finding, subject, evidence, (f"In the definition of {subject}: {edit}",), gain)
    fix = tuple(text for each in declared.fix if (text := each.format_map(values)))
    return Diagnosis(finding, subject, evidence, fix, gain, fix if declared.safe else ())


def _shown(name: str, value: float | str) -> str:
    if name.endswith("bytes") and not isinstance(value, str):
        return size_text(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}" if isinstance(value, float) else value


def size_text(count: float) -> str:
    """Return a number of bytes with a unit.

    >>> size_text(900), size_text(2_500_000), size_text(3 * 2**30)
    ('900 B', '2.4 MB', '3.0 GB')
    """
    if count < 1024:
        return f"{count:.0f} B"
    power = min(4, int(math.log(count, 1024)))
    return f"{count / 1024**power:.1f} {('', 'KB', 'MB', 'GB', 'TB')[power]}"


@dataclass
class Examination:
    """The result for several subjects.

    Attributes:
        subjects: What was read, as the user names it.
        diagnoses: The findings, in the order of the subjects.
        unreadable: Reasons by subject for those that could not be read.
    """

    subjects: list[str] = field(default_factory=list)
    diagnoses: list[Diagnosis] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)

    @property
    def is_healthy(self) -> bool:
        """Return whether everything was read and nothing was found."""
        return not self.diagnoses and not self.unreadable

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {
            "subjects": self.subjects,
            "findings": [each.as_json() for each in self.diagnoses],
            "unreadable": self.unreadable,
        }
