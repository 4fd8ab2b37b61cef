"""What `check` finds: uses of the platform, and the verdict on each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Verdict = Literal[
    "runs_as_is", "runs_with_lakeward", "differs", "needs_seed", "fails_on_serverless", "refused"
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

Kind = Literal[
    "builtin",
    "conf",
    "creates",
    "creates_schema",
    "dbutils",
    "field",
    "format",
    "import",
    "install",
    "magic",
    "module",
    "needs_bundle",
    "needs_catalog",
    "option",
    "parameter",
    "path",
    "pipeline",
    "reads",
    "reads_files",
    "requirement",
    "rule",
    "spark",
    "sql",
    "statement",
    "task",
    "uses_schema",
    "view",
    "writes_files",
]

STREAM_STARTS = ("start", "toTable", "table")
"""Methods of `writeStream` that start the stream; `table` is the platform's older name of `toTable`."""
WITHOUT_TRIGGER = "without a trigger"
"""The detail of a stream that is started in the chain that began it, and was given no trigger there."""


@dataclass(frozen=True, order=True)
class Place:
    """Where something stands, as editors count: `line` and `column` from 1; 0 where none is known.

    In a notebook of cells the line is that of `cell`, counted from 1.
    """

    file: str
    cell: int = 0
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        file = f"{self.file}#{self.cell}" if self.cell else self.file
        return f"{file}:{self.line}:{self.column}" if self.line else file


@dataclass(frozen=True)
class Use:
    """One use of something: `name` as the table of its `kind` calls it, `detail` what else matters there.

    The detail of `creates` is `dataset` in pipelines, `written` where the schema must exist, `temporary` for
    what ends with its session, else None.

    `guarded` uses have a way out in the user's own code (an import that may fail). `targets` are those of the
    bundle that have it, where several were read.
    """

    kind: Kind
    name: str
    place: Place
    detail: str | None = None
    guarded: bool = False
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fact:
    """What the runtime does about a construct, and what the user may do, in one sentence."""

    construct: str
    verdict: Verdict
    cure: str


@dataclass(frozen=True)
class Finding:
    """A fact at a place; `targets` are those of the bundle that have it, where several were read."""

    verdict: Verdict
    construct: str
    place: Place
    cure: str
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unread:
    """A file that could not be read, and why.

    `python` is the version whose grammar the file seems to use; `is_scanned` if its uses were found anyway.
    """

    place: Place
    reason: str
    python: tuple[int, int] | None = None
    is_scanned: bool = False


@dataclass(frozen=True)
class Report:
    """Everything that was found below a path. `files` counts what was read, by kind of file.

    Places are relative to the checked folder; `base` leads there from the working folder.
    """

    path: str
    profile: str
    files: Mapping[str, int]
    findings: tuple[Finding, ...]
    unread: tuple[Unread, ...] = ()
    seconds: float = 0.0
    base: str = ""

    def of(self, verdict: Verdict) -> tuple[Finding, ...]:
        """Return the findings with `verdict`, in the order of their places."""
        return tuple(finding for finding in self.findings if finding.verdict == verdict)

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """Return what keeps code from running: refusals, missing seeds, and failures on serverless."""
        stops = {"refused", "needs_seed"} | (
            {"fails_on_serverless"} if self.profile == "serverless" else set()
        )
        return tuple(finding for finding in self.findings if finding.verdict in stops)
