"""Small repositories, made by each test, and what is found in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lakeward.check import Finding, Report, Verdict, check


@dataclass(frozen=True)
class Found:
    """Shortcuts to the findings of a report."""

    report: Report

    def verdicts(self) -> dict[str, Verdict]:
        return {finding.construct: finding.verdict for finding in self.report.findings}

    def of(self, verdict: Verdict) -> list[str]:
        return list(dict.fromkeys(finding.construct for finding in self.report.of(verdict)))

    def tables(self) -> list[str]:
        """What needs rows, without the schemas that have to be there."""
        return [each for each in self.of("needs_seed") if not each.startswith(("schema ", "catalog "))]

    def one(self, construct: str) -> Finding:
        (finding,) = [each for each in self.report.findings if each.construct == construct]
        return finding

    def places(self, construct: str) -> list[str]:
        return [str(each.place) for each in self.report.findings if each.construct == construct]


Look = Callable[..., Found]


@pytest.fixture
def look(tmp_path: Path) -> Look:
    """Writes files, given as `{name: content}` or as the one Python file `job.py`, and looks through them."""

    def look(files: dict[str, str | bytes] | str, **options: str) -> Found:
        for name, content in ({"job.py": files} if isinstance(files, str) else files).items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return Found(check(tmp_path, environ={}, **options))

    return look
