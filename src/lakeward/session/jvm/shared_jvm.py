"""One JVM for several processes: a job's tasks use the JVM of the process that started them.

The owner opens a separate gateway for each process, so that callbacks reach the right Python process. The
borrower has its own session in the owner's context, and never stops that context.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.spark_internals import conf_from_java, jvm_view, scala_context

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class GatewayAddress:
    """The address of a JVM's gateway for one process, and the tag of this process's Spark jobs."""

    port: int
    secret: str
    tag: str


class GatewayServer:
    """A gateway for one process; `close` also cancels what that process left running."""

    def __init__(self, spark: SparkSession, tag: str) -> None:
        jvm: Any = jvm_view(spark)
        self._context = scala_context(spark.sparkContext)
        self._server = jvm.org.apache.spark.api.python.Py4JServer(self._context.conf())
        self._server.start()
        self._tag = tag

    @property
    def shared(self) -> GatewayAddress:
        """Return the address for the other process."""
        return GatewayAddress(int(self._server.getListeningPort()), str(self._server.secret()), self._tag)

    def close(self) -> None:
        """Cancel the process's Spark jobs and close its gateway; no effect if the JVM has exited."""
        with suppress(Exception):
            self._context.cancelJobsWithTag(self._tag)
        with suppress(Exception):
            self._server.shutdown()


_borrowed: GatewayAddress | None = None
_lend: Callable[[], GatewayAddress | None] | None = None


def use_shared_jvm(lend: Callable[[], GatewayAddress | None]) -> None:
    """Create the sessions of this process in the JVM that `lend` returns on first use.

    With None, sessions use a JVM of this process.
    """
    global _lend  # noqa: PLW0603  # one JVM a process, as in Spark itself
    _lend = lend


def shared_gateway() -> GatewayAddress | None:
    """Return the gateway of the shared JVM if this process uses one; connect on first use."""
    global _borrowed, _lend
    if _lend is not None:
        _borrowed, _lend = _lend(), None
    return _borrowed


def is_borrowed() -> bool:
    """Return whether the session of this process is in the JVM of another process."""
    return _borrowed is not None


def shared_context_parts(shared: GatewayAddress) -> dict[str, Any]:
    """Return the arguments of a SparkContext on top of the owner's."""

    from lakeward.session.jvm.jvm_launcher import connect

    gateway = connect(shared.port, shared.secret)
    jvm = gateway.jvm
    scala = jvm.org.apache.spark.SparkContext.getOrCreate()
    scala.addJobTag(shared.tag)
    java = jvm.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(scala)
    return {"gateway": gateway, "conf": conf_from_java(scala.conf()), "jsc": _unstoppable(java)}


def _unstoppable(java: Any) -> Any:
    """Wrap the owner's Java context so that `stop()` has no effect: users' scripts end with it."""
    from py4j.java_gateway import JavaObject

    class Unstoppable(JavaObject):  # type: ignore[misc]  # py4j is published without types
        def stop(self) -> None:
            """Do nothing: other tasks use the JVM."""

    stable = Unstoppable(java._target_id, java._gateway_client)
    # Both refer to one object in the JVM, which is released with the first reference.
    object.__setattr__(stable, "_owner", java)
    return stable
