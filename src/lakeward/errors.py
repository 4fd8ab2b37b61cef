"""Everything that lakeward itself refuses, in one tree.

    LakewardError
    ├── ConfigurationError                 wrong usage, settings or bundle; exit code 2
    │   ├── UsageError                     a command line that cannot be carried out
    │   ├── BundleError                    databricks.yml and resources/: file, line and column
    │   └── SeedError                      a seed that does not fit its table, or is not there
    ├── SetupError                         Java, jars, disk or network missing; exit code 2
    ├── SessionError                       a Spark session that cannot be given as asked
    ├── CloudFilesError                    Auto Loader's conditions (CF_…)
    │   └── UnknownFieldException          new fields met while parsing (UNKNOWN_FIELD_EXCEPTION)
    ├── SqlError                           a SQL statement that is carried out here, not by Spark
    ├── PipelineError                      a pipeline's sources or graph
    │   └── ExpectationViolation           expect_or_fail met a record that breaks it
    ├── JobError                           a job's tasks
    ├── NotebookError                      a cell of a notebook that cannot be carried out
    └── DbutilsError                       a call of `dbutils` that cannot be carried out

A message reads: condition, what was asked, what was there, what to do next.
"""

from __future__ import annotations

__all__ = [
    "BundleError",
    "CloudFilesError",
    "ConfigurationError",
    "DbutilsError",
    "ExpectationViolation",
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
    """Base of all errors that users meet; `str()` of it is the whole text that they should read.

    `condition` is the machine-readable name (the platform's own where it has one), `message` says what
    was asked and what was there, `next_step` what to do about it.
    """

    exit_code = 1

    def __init__(self, condition: str, message: str, *, next_step: str | None = None) -> None:
        self.condition = condition
        self.message = message
        self.next_step = next_step
        text = f"[{condition}] {message}"
        super().__init__(f"{text} {next_step}" if next_step else text)


class ConfigurationError(LakewardError):
    """Wrong usage or configuration: nothing was run."""

    exit_code = 2


class UsageError(ConfigurationError):
    """A command line that cannot be carried out."""


class BundleError(ConfigurationError):
    """A bundle that cannot be read; the message starts with `file:line:column` where one is known."""


class SeedError(ConfigurationError):
    """A seed that cannot become a table; no table was touched."""


class SetupError(LakewardError):
    """The machine lacks what a session needs: Java, jars, disk space, network."""

    exit_code = 2


class SessionError(LakewardError):
    """A Spark session that cannot be given as asked."""


class CloudFilesError(LakewardError):
    """An Auto Loader condition; `condition` is the platform's name (CF_…)."""


class UnknownFieldException(CloudFilesError):
    """New fields met while parsing; a restart continues when the evolution mode allows it."""


class SqlError(LakewardError):
    """A SQL statement of those that are carried out here; `sql_state` is the condition's.

    A condition that Spark knows takes `parameters`, and then Spark's own text is shown.
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
    """A cell of a notebook that cannot be carried out here, or one that another notebook asked for."""


class PipelineError(LakewardError):
    """A pipeline whose sources or graph are wrong."""


class ExpectationViolation(PipelineError):
    """`expect_or_fail` met a record that does not satisfy it; the flow wrote nothing."""


class JobError(LakewardError):
    """A job whose definition or task failed."""


class DbutilsError(LakewardError):
    """A call of `dbutils` that cannot be carried out; `condition` is the platform's Java class, or ours."""
