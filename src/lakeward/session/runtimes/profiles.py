"""Runtime profiles: settings of a Databricks runtime that differ from open-source Spark.

Tests under other settings than the platform's prove little, so a profile sets ANSI mode and the session's
time zone unless the user's own settings do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakeward.errors import ConfigurationError

# Older runtimes use ANSI mode only if it is set; those before the second version are retired.
_ANSI_SINCE = 17
_OLDEST = 10
# The first runtime without the function input_file_name.
_NO_INPUT_FILE_NAME_SINCE = (17, 3)
# Runtimes before it have Spark 3: dates that Spark 2 parses otherwise are errors, all of Java's charsets are
# allowed, and text without a code in a charset is replaced.
_SPARK_4_SINCE = 17
# Since Spark 4.2, results of Python functions go through Arrow, which casts values that are not of the
# declared type. Before, they became NULL, and in a column of strings the text that Java has for the object.
_ARROW_FUNCTIONS_SINCE = 19
# Since Spark 4.1, a foreachBatch that does not read all rows of a stateful stream fails, and so does a
# function of pandas whose values do not fit the declared type without loss; before, they were cut: 1.7 to 1.
_SPARK_4_1_SINCE = 18
# Delta before 4.3 refuses a DataFrame whose columns have other types than those of the table that it is
# written to by name. Serverless compute casts them since 2026.
_WRITES_CAST_SINCE = 18
_SPARK_3 = {
    "spark.sql.legacy.timeParserPolicy": "EXCEPTION",
    "spark.sql.legacy.javaCharsets": "true",
    "spark.sql.legacy.codingErrorAction": "true",
}
_PICKLED_FUNCTIONS = {
    "spark.sql.execution.pythonUDF.arrow.enabled": "false",
    "spark.sql.execution.pythonUDTF.arrow.enabled": "false",
}
_VERSION = re.compile(r"(?:custom:)?(\d{1,2})\.(\d{1,2}|x)(?:\.x)?(?:-.*)?")


@dataclass(frozen=True)
class Profile:
    """One runtime: its name, whether SQL uses ANSI mode, and its Spark release if it has one."""

    name: str
    ansi: bool
    spark: str = ""

    @property
    def spark_version(self) -> str:
        """Return the runtime's key in cluster specifications: `17.3.x-scala2.13`."""
        return f"{self.name}.x-scala2.{13 if self._major >= _ANSI_SINCE else 12}"

    @property
    def has_input_file_name(self) -> bool:
        """Return whether SQL has the function `input_file_name`."""
        if self.name == "serverless":
            return False
        major, _, minor = self.name.partition(".")
        # A minor version that is not a number means the newest one.
        return (int(major), int(minor) if minor.isdigit() else 99) < _NO_INPUT_FILE_NAME_SINCE

    @property
    def _major(self) -> int:
        return int(self.name.partition(".")[0])

    def _is_since(self, major: int) -> bool:
        return self.name == "serverless" or self._major >= major

    def conf(self) -> dict[str, str]:
        """Return the Spark settings of this runtime."""
        checked = str(self._is_since(_SPARK_4_1_SINCE)).lower()
        cast = str(self._is_since(_WRITES_CAST_SINCE)).lower()
        conf = {
            "spark.sql.ansi.enabled": str(self.ansi).lower(),
            "spark.sql.session.timeZone": "Etc/UTC",
            "spark.sql.streaming.stateStore.commitValidation.enabled": checked,
            "spark.sql.execution.pandas.convertToArrowArraySafely": checked,
            "spark.databricks.delta.dml.insert.dfByName.allowImplicitCasts": cast,
            "spark.sql.lakeward.inputFileName": "" if self.has_input_file_name else "removed",
        }
        if not self._is_since(_SPARK_4_SINCE):
            conf |= _SPARK_3
        if not self._is_since(_ARROW_FUNCTIONS_SINCE):
            conf |= _PICKLED_FUNCTIONS
        # Serverless compute names a column without an alias by the text of its expression: `count(*)`.
        conf["spark.sql.stableDerivedColumnAlias.enabled"] = str(self.name == "serverless").lower()
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
"""The listed runtimes; others of the same form are derived by rule."""

DEFAULT_PROFILE = "19.3"


def get_profile(name: str) -> Profile:
    """Return the profile of a runtime name such as `17.3`, `17.3.x-photon-scala2.13` or `serverless`.

    Raises ConfigurationError for an unknown runtime.
    """
    found = find_profile(name)
    if found is None:
        raise ConfigurationError(
            "UNKNOWN_RUNTIME_PROFILE",
            f"The runtime profile '{name}' is not known; there are {', '.join(PROFILES)}.",
            next_step="Set --runtime, LAKEWARD_PROFILE, `runtime` in [tool.lakeward] or the bundle's "
            "spark_version to one of them.",
        )
    return found


def find_profile(name: str) -> Profile | None:
    """Return the profile, or None for an unknown name."""
    if name in PROFILES:
        return PROFILES[name]
    if name.startswith("auto:latest"):
        return PROFILES[DEFAULT_PROFILE]
    match = _VERSION.fullmatch(name)
    if match is None or int(match.group(1)) < _OLDEST:
        return None
    short = ".".join(match.groups())
    return PROFILES.get(short) or Profile(short, ansi=int(match.group(1)) >= _ANSI_SINCE)
