"""Runtime profiles: what a Databricks runtime sets that open-source Spark does not.

A test that is green with other settings than the platform's is worth nothing, so a profile decides
ANSI mode and the session's time zone unless the user's own settings say otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakeward.errors import ConfigurationError

# Runtimes before this one follow ANSI only where a setting says so; those before the other are retired.
_ANSI_SINCE = 17
_OLDEST = 10
# The first runtime without the function input_file_name.
_NO_INPUT_FILE_NAME_SINCE = (17, 3)
# Since Spark 4.1 a foreachBatch that leaves rows of a stateful stream unread fails; before, it went on.
_STATE_CHECKED_SINCE = 18
_VERSION = re.compile(r"(?:custom:)?(\d{1,2})\.(\d{1,2}|x)(?:\.x)?(?:-.*)?")


@dataclass(frozen=True)
class Profile:
    """One runtime: its name, whether SQL follows ANSI there, and the release of its Spark if it has one."""

    name: str
    ansi: bool
    spark: str = ""

    @property
    def spark_version(self) -> str:
        """The runtime's key, as clusters are made with it: `17.3.x-scala2.13`."""
        return f"{self.name}.x-scala2.{13 if self._major >= _ANSI_SINCE else 12}"

    @property
    def _has_input_file_name(self) -> bool:
        if self.name == "serverless":
            return False
        major, _, minor = self.name.partition(".")
        # Minors of a runtime's line that are not numbers stand for the newest.
        return (int(major), int(minor) if minor.isdigit() else 99) < _NO_INPUT_FILE_NAME_SINCE

    @property
    def _major(self) -> int:
        return int(self.name.partition(".")[0])

    def conf(self) -> dict[str, str]:
        """Spark settings of this runtime."""
        checked = self.name == "serverless" or self._major >= _STATE_CHECKED_SINCE
        conf = {
            "spark.sql.ansi.enabled": str(self.ansi).lower(),
            "spark.sql.session.timeZone": "Etc/UTC",
            "spark.sql.streaming.stateStore.commitValidation.enabled": str(checked).lower(),
            "spark.sql.lakeward.inputFileName": "" if self._has_input_file_name else "removed",
        }
        if self.name != "serverless":
            conf["spark.databricks.clusterUsageTags.sparkVersion"] = self.spark_version
        return conf


PROFILES = {
    p.name: p
    for p in (
        Profile("serverless", ansi=True),
        Profile("19.3", ansi=True, spark="4.2.0"),
        Profile("18.3", ansi=True, spark="4.1.0"),
        Profile("17.3", ansi=True, spark="4.0.0"),
        Profile("16.4", ansi=False, spark="3.5.2"),
        Profile("15.4", ansi=False, spark="3.5.0"),
        Profile("14.3", ansi=False, spark="3.5.0"),
        Profile("13.3", ansi=False, spark="3.4.1"),
    )
}
"""The runtimes that people choose from; others of the same form are known by rule."""

DEFAULT_PROFILE = "19.3"


def profile(name: str) -> Profile:
    """The profile of a runtime name such as `17.3`, `17.3.x-photon-scala2.13` or `serverless`.

    Raises ConfigurationError for a runtime that is not known.
    """
    found = known(name)
    if found is None:
        raise ConfigurationError(
            "UNKNOWN_RUNTIME_PROFILE",
            f"The runtime profile '{name}' is not known; there are {', '.join(PROFILES)}.",
            next_step="Set --runtime, LAKEWARD_PROFILE, `runtime` in [tool.lakeward] or the bundle's "
            "spark_version to one of them.",
        )
    return found


def known(name: str) -> Profile | None:
    """As `profile`, but None for a name that is not known."""
    if name in PROFILES:
        return PROFILES[name]
    if name.startswith("auto:latest"):
        return PROFILES[DEFAULT_PROFILE]
    match = _VERSION.fullmatch(name)
    if match is None or int(match.group(1)) < _OLDEST:
        return None
    short = ".".join(match.groups())
    return PROFILES.get(short) or Profile(short, ansi=int(match.group(1)) >= _ANSI_SINCE)
