"""Runtime profiles: what a Databricks runtime sets that open-source Spark does not.

A test that is green with other settings than the platform's is worth nothing, so a profile decides
ANSI mode and the session's time zone unless the user's own settings say otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.errors import ConfigurationError

__all__ = ["DEFAULT_PROFILE", "PROFILES", "Profile", "profile"]


@dataclass(frozen=True)
class Profile:
    """One runtime: its name and whether SQL follows ANSI there."""

    name: str
    ansi: bool

    def conf(self) -> dict[str, str]:
        """Spark settings of this runtime."""
        return {"spark.sql.ansi.enabled": str(self.ansi).lower(), "spark.sql.session.timeZone": "Etc/UTC"}


PROFILES = {
    p.name: p
    for p in (
        Profile("serverless", ansi=True),
        Profile("18.0", ansi=True),
        Profile("17.3", ansi=True),
        Profile("16.4", ansi=False),
        Profile("15.4", ansi=False),
        Profile("14.3", ansi=False),
    )
}
DEFAULT_PROFILE = "17.3"


def profile(name: str) -> Profile:
    """The profile of a runtime name such as `17.3`, `17.3.x-scala2.13` or `serverless`.

    Raises ConfigurationError for a runtime that is not known.
    """
    short = name.split(".x-", 1)[0]
    if short not in PROFILES:
        raise ConfigurationError(
            "UNKNOWN_RUNTIME_PROFILE",
            f"The runtime profile '{name}' is not known; there are {', '.join(PROFILES)}.",
            next_step="Set LAKEWARD_PROFILE or the bundle's spark_version to one of them.",
        )
    return PROFILES[short]
