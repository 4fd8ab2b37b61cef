"""`dbutils.library`, `dbutils.data` and `dbutils.credentials`."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from lakeward.dbutils.failures import unsupported_function
from lakeward.dbutils.utility import Utility


class Library(Utility):
    """`dbutils.library`."""

    _group = "library"
    _warned = False

    def restartPython(self) -> None:
        """Clear the notebook's names and reload packages of `%pip`; no effect outside of a notebook."""
        restart = self._environment().restart_python
        if restart is not None:
            restart()
        elif not Library._warned:
            Library._warned = True
            print(
                "dbutils.library.restartPython() has no effect here: Python keeps running.", file=sys.stderr
            )


class Data(Utility):
    """`dbutils.data`."""

    _group = "data"

    def summarize(self, df: Any, precise: bool = False) -> None:
        """Print statistics of every column, with exact percentiles if `precise`.

        Raises TypeError for an object that is not a DataFrame, DbutilsError(NOT_SUPPORTED) for a stream.
        """
        from lakeward.session import session

        if not hasattr(df, "summary"):
            df = df.to_spark() if hasattr(df, "to_spark") else session().createDataFrame(df)
        if df.isStreaming:
            raise unsupported_function("dbutils.data.summarize", "streaming frames have no end to summarise.")
        measures = ["count", "mean", "stddev", "min", "25%", "50%", "75%", "max"]
        if precise:
            measures.append("count_distinct")
        print(df.summary(*measures)._show_string(len(measures) + 1, 40, False).rstrip())


class Credentials(Utility):
    """`dbutils.credentials`: roles of a cloud account, not available locally."""

    _group = "credentials"

    def assumeRole(self, role: str) -> NoReturn:
        """Raise DbutilsError(NOT_SUPPORTED)."""
        raise self._refused("assumeRole")

    def showCurrentRole(self) -> NoReturn:
        """Raise DbutilsError(NOT_SUPPORTED)."""
        raise self._refused("showCurrentRole")

    def showRoles(self) -> NoReturn:
        """Raise DbutilsError(NOT_SUPPORTED)."""
        raise self._refused("showRoles")

    def getServiceCredentialsProvider(self, credentialName: str) -> NoReturn:
        """Raise DbutilsError(NOT_SUPPORTED)."""
        raise self._refused("getServiceCredentialsProvider")

    @staticmethod
    def _refused(function: str) -> Exception:
        return unsupported_function(
            f"dbutils.credentials.{function}",
            "there is no cloud account behind a local run.",
            "Map the paths it is for to local folders (--mount s3://bucket=FOLDER).",
        )
