"""All errors that lakeward raises, in one tree.

    LakewardError
    ├── ConfigurationError                 wrong usage, settings or bundle; exit code 2
    │   ├── UsageError                     an invalid command line
    │   ├── BundleError                    databricks.yml and resources/: file, line and column
    │   └── SeedError                      a seed that is missing or does not match its table
    ├── InvalidPathError                   a host in dbfs:, a path that leaves its root, unmapped storage
    ├── SetupError                         Java, jars, disk or network missing; exit code 2
    ├── SessionError                       a Spark session that cannot be created as requested
    ├── CloudFilesError                    Auto Loader's conditions (CF_…)
    │   └── UnknownFieldException          new fields found while parsing (UNKNOWN_FIELD_EXCEPTION)
    ├── SqlError                           a SQL statement that lakeward runs, not Spark
    ├── PipelineError                      a pipeline's sources or graph
    │   └── ExpectationViolation           expect_or_fail found an invalid record
    ├── JobError                           a job's tasks
    ├── NotebookError                      a notebook cell that cannot run
    └── DbutilsError                       a call of `dbutils` that cannot be served

A message has four parts: the condition, what was requested, what was found, what to do next.
"""

from __future__ import annotations

__all__ = [
    "BundleError",
    "CloudFilesError",
    "ConfigurationError",
    "DbutilsError",
    "ExpectationViolation",
    "InvalidPathError",
    "JobError",
    "LakewardError",
    "NotebookError",
    "PipelineError",
    "SeedError",
    "SessionError",
    "SetupError",
    "SqlError",
    "UnknownFieldException",
    "UsageError",
]


class LakewardError(Exception):
    """Base of all errors for users; `str()` is the whole text to show.

    Attributes:
        condition: The machine-readable name, the platform's own if it has one.
        message: What was requested and what was found.
        next_step: What to do about it.
    """

    exit_code = 1

    def __init__(self, condition: str, message: str, *, next_step: str | None = None) -> None:
        self.condition = condition
        self.message = message
        self.next_step = next_step
        text = f"[{condition}] {message}"
        super().__init__(f"{text}{self._separator}{next_step}" if next_step else text)

    @property
    def _separator(self) -> str:
        # A quoted line of the user's file ends some messages; the next step is not part of it.
        return "\n" if self.message.rpartition("\n")[2].startswith("  ") else " "

    @property
    def text(self) -> str:
        """Message and next step, without the condition."""
        if not self.next_step:
            return self.message
        if self._separator == "\n":
            return f"{self.message}\n{self.next_step}"
        # Messages of the platform may lack the stop.
        stop = "" if self.message.rstrip().endswith((".", "!", "?", ":", ";", ">", "`", "…", '"')) else "."
        return f"{self.message}{stop} {self.next_step}"


class ConfigurationError(LakewardError):
    """Wrong usage or configuration; nothing was run."""

    exit_code = 2


class UsageError(ConfigurationError):
    """An invalid command line."""


class BundleError(ConfigurationError):
    """A bundle that cannot be read; the message starts with `file:line:column` where one is known."""


class SeedError(ConfigurationError):
    """A seed that cannot become a table; no table was touched."""


class InvalidPathError(LakewardError, ValueError):
    """An invalid path; nothing was read or written."""


class SetupError(LakewardError):
    """The machine lacks what a session needs: Java, jars, disk space, network."""

    exit_code = 2


class SessionError(LakewardError):
    """A Spark session that cannot be created as requested."""


class CloudFilesError(LakewardError):
    """An Auto Loader condition; `condition` is the platform's name (CF_…)."""


class UnknownFieldException(CloudFilesError):
    """New fields found while parsing; a restart continues when the evolution mode allows it."""


class SqlError(LakewardError):
    """A SQL statement that lakeward runs failed; `sql_state` is the condition's.

    For a condition that Spark knows, `parameters` fill Spark's own message.
    """

    def __init__(
        self,
        condition: str,
        message: str,
        *,
        sql_state: str | None = None,
        parameters: dict[str, str] | None = None,
        next_step: str | None = None,
    ) -> None:
        self.sql_state = sql_state
        self.parameters = parameters
        super().__init__(condition, message, next_step=next_step)


class NotebookError(LakewardError):
    """A notebook cell, or a notebook that another one calls, cannot run here."""


class PipelineError(LakewardError):
    """A pipeline whose sources or graph are wrong."""

    @classmethod
    def at(cls, where: object, error: LakewardError) -> PipelineError:
        """Return an error with its place before the message."""
        return cls(error.condition, f"{where}: {error.message}", next_step=error.next_step)


class ExpectationViolation(PipelineError):
    """`expect_or_fail` found an invalid record; the flow wrote nothing."""


class JobError(LakewardError):
    """A job whose definition or task failed."""


class DbutilsError(LakewardError):
    """A call of `dbutils` that cannot be served; `condition` is the Java class or our own name."""


def first_line(text: str, otherwise: str = "") -> str:
    """Return the first line of a text that has content; `otherwise` if none has.

    >>> first_line("\\n a \\nb"), first_line(" ", "no reason")
    ('a', 'no reason')
    """
    return next((line.strip() for line in text.splitlines() if line.strip()), otherwise)
