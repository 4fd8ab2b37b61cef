"""A report in one sentence, and as one JSON object."""

from __future__ import annotations

from typing import Any

from lakeward.check.model import VERDICTS, Finding, Report, Verdict

_CODE = ("python", "notebook", "sql")
_SUFFIXES = (".py", ".ipynb", ".sql", ".dbc")


def constructs(report: Report, verdict: Verdict) -> dict[str, list[Finding]]:
    """Return the findings of a verdict by construct, in the order of their first places."""
    grouped: dict[str, list[Finding]] = {}
    for finding in report.of(verdict):
        grouped.setdefault(finding.construct, []).append(finding)
    return grouped


def what_will_run(report: Report) -> str:
    """Return the one line that answers whether this repository runs."""
    unread = {each.place.file for each in report.unread}
    broken = {file for file in unread if file.endswith(_SUFFIXES)}
    files = sum(report.files.get(kind, 0) for kind in _CODE) + len(broken)
    if not files and not report.findings and not unread:
        return "There is nothing here that lakeward could run."
    if not report.findings and not unread:
        return f"Nothing of Databricks was found in {_many(files, 'file')}: they run as they are."
    refused = {finding.place.file for finding in report.blocking if finding.verdict != "needs_seed"}
    stopped = [file for file in refused if file.endswith(_SUFFIXES) and file not in broken]
    sentence = f"{files - len(stopped) - len(broken):,} of {_many(files, 'file')} will run"
    if stopped:
        sentence += f"; {len(stopped)} {'uses' if len(stopped) == 1 else 'use'} something that is refused"
    if unread:
        sentence += f"; {len(unread)} cannot be read"
    seeds = constructs(report, "needs_seed")
    if seeds:
        sentence += f"; {_many(len(seeds), 'input')} must be there first"
    serverless = constructs(report, "fails_on_serverless")
    if serverless:
        sentence += f"; {_many(len(serverless), 'construct')} would fail on serverless compute"
    return f"{sentence}."


def as_object(report: Report) -> dict[str, Any]:
    """Return what `--json` prints."""
    return {
        "path": report.path,
        "profile": report.profile,
        "what_will_run": what_will_run(report),
        "files": {"read": dict(report.files), "unread": len(report.unread)},
        "constructs": {verdict: len(constructs(report, verdict)) for verdict in VERDICTS},
        "findings": [
            {
                "verdict": finding.verdict,
                "construct": finding.construct,
                "file": report.base + finding.place.file,
                "cell": finding.place.cell or None,
                "line": finding.place.line or None,
                "column": finding.place.column or None,
                "cure": finding.cure,
                "targets": list(finding.targets),
            }
            for finding in report.findings
        ],
        "unread": [
            {"file": report.base + each.place.file, "line": each.place.line or None, "reason": each.reason}
            for each in report.unread
        ],
        "blocking": len(report.blocking),
        "seconds": round(report.seconds, 3),
    }


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
