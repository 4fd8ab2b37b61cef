"""`DatabricksSession`, whose builder returns lakeward's session whatever the connection settings are.

The shim for `databricks.connect` serves this module. Host, cluster and credentials have no meaning locally:
the methods accept the parameters of Databricks Connect and ignore them. A request for serverless compute
selects the runtime profile.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lakeward.patching import install

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class _PerAccess:
    """Returns a new builder on each access to `DatabricksSession.builder`, as PySpark does."""

    def __get__(self, instance: object, owner: type[DatabricksSession]) -> DatabricksSession.Builder:
        return owner.Builder()


class DatabricksEnv:
    """Packages that functions need on remote compute; local functions use those of this interpreter."""

    def __init__(self) -> None:
        self.dependencies: list[str] = []

    def withDependencies(self, dependencies: str | list[str]) -> DatabricksEnv:  # noqa: N802  # as on the platform
        """Record further packages and return this environment."""
        self.dependencies += [dependencies] if isinstance(dependencies, str) else list(dependencies)
        return self

    def withAutoDependencies(self, **_how: Any) -> DatabricksEnv:  # noqa: N802  # as on the platform
        """Do nothing: all packages are available already. Return this environment."""
        return self


class DatabricksSession:
    """The entry point of Databricks Connect; `builder` is its only attribute."""

    builder = _PerAccess()

    class Builder:
        """Collects the settings of the session; every method except the last two returns the builder."""

        def __init__(self) -> None:
            self._options: dict[str, Any] = {}
            self._serverless = os.environ.get("DATABRICKS_SERVERLESS_COMPUTE_ID") == "auto"

        def serverless(self, enabled: bool = True) -> DatabricksSession.Builder:
            """Use serverless compute: the session enforces its limitations."""
            self._serverless = enabled
            return self

        def remote(
            self,
            conn_string: str | None = None,  # noqa: ARG002  # where to, which is here
            *,
            serverless: bool | None = None,
            cluster_id: str | None = None,
            **_where: Any,
        ) -> DatabricksSession.Builder:
            """Select a cluster or serverless compute of a workspace."""
            if serverless is not None:
                self._serverless = serverless
            elif cluster_id is not None:
                self._serverless = False
            return self

        def sdkConfig(self, config: Any) -> DatabricksSession.Builder:  # noqa: N802  # as on the platform
            """Select the compute of a `databricks.sdk.core.Config`; only its kind matters."""
            if getattr(config, "serverless_compute_id", None):
                self._serverless = True
            elif getattr(config, "cluster_id", None):
                self._serverless = False
            return self

        def clusterId(self, _cluster_id: str) -> DatabricksSession.Builder:  # noqa: N802  # as on the platform
            """Select a cluster by its id."""
            self._serverless = False
            return self

        def config(
            self, key: Any = None, value: Any = None, *, conf: Any = None, map: Any = None
        ) -> DatabricksSession.Builder:
            """Add Spark settings: a key and its value, a SparkConf or a mapping."""
            self._options.update(dict(conf.getAll()) if conf is not None else map or {key: value})
            return self

        def appName(self, name: str) -> DatabricksSession.Builder:  # noqa: N802  # as on the platform
            """Set the application's name."""
            return self.config("spark.app.name", name)

        def _here(self, *_arguments: Any, **_named: Any) -> DatabricksSession.Builder:
            return self

        host = token = profile = header = headers = userAgent = _here  # noqa: N815  # as on the platform
        validateSession = withEnvironment = _here  # noqa: N815  # as on the platform

        def getOrCreate(self) -> SparkSession:  # noqa: N802  # as on the platform
            """Return the running session, or create one."""
            from lakeward.session.entry_points.connect_behavior import PATCHES
            from lakeward.session.entry_points.session_builder_patch import get_or_create

            install(PATCHES)
            return get_or_create(self._options, profile="serverless" if self._serverless else None)

        def create(self) -> SparkSession:
            """Create a new session, in addition to a running one."""
            from lakeward.session.entry_points.connect_behavior import PATCHES
            from lakeward.session.entry_points.session_builder_patch import create_session

            install(PATCHES)
            return create_session(self._options, profile="serverless" if self._serverless else None)
