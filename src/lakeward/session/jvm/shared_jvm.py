"""One JVM for several processes: a job's tasks use the one of the process that started them.

The owner opens a gateway of its own for each process, so that calls back into Python reach the right one.
The borrower has a session of its own in the owner's context, and never stops that context.
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
    """Where a JVM listens for one process, and the tag that this process's Spark jobs carry."""

    port: int
    secret: str
    tag: str


class GatewayServer:
    """A gateway that is open for one process; `close` also ends what that process left running."""

    def __init__(self, spark: SparkSession, tag: str) -> None:
        jvm: Any = jvm_view(spark)
        self._context = scala_context(spark.sparkContext)
        self._server = jvm.org.apache.spark.api.python.Py4JServer(self._context.conf())
        self._server.start()
        self._tag = tag

    @property
    def shared(self) -> GatewayAddress:
        """What the other process needs to know."""
        return GatewayAddress(int(self._server.getListeningPort()), str(self._server.secret()), self._tag)

    def close(self) -> None:
        """Cancel the process's Spark jobs and close its gateway; a JVM that is gone has done so."""
        with suppress(Exception):
            self._context.cancelJobsWithTag(self._tag)
        with suppress(Exception):
            self._server.shutdown()


_borrowed: GatewayAddress | None = None
_lend: Callable[[], GatewayAddress | None] | None = None


def open_gateway(spark: SparkSession, tag: str) -> GatewayServer:
    """Open the JVM of `spark` for another process of this user."""
    return GatewayServer(spark, tag)


def use_shared_jvm(lend: Callable[[], GatewayAddress | None]) -> None:
    """From now on a session of this process is one in the JVM that `lend` names when the first is made.

    With None it is one in a JVM of its own.
    """
    global _lend  # noqa: PLW0603  # one JVM a process, as in Spark itself
    _lend = lend


def shared_gateway() -> GatewayAddress | None:
    """The JVM of another process that this one uses, if it does; asks for it the first time."""
    global _borrowed, _lend
    if _lend is not None:
        _borrowed, _lend = _lend(), None
    return _borrowed


def shared_context_parts(shared: GatewayAddress) -> dict[str, Any]:
    """Arguments of the SparkContext that stands on the owner's."""

    from lakeward.session.jvm.jvm_launcher import connect

    gateway = connect(shared.port, shared.secret)
    jvm = gateway.jvm
    scala = jvm.org.apache.spark.SparkContext.getOrCreate()
    scala.addJobTag(shared.tag)
    java = jvm.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(scala)
    return {"gateway": gateway, "conf": conf_from_java(scala.conf()), "jsc": _unstoppable(java)}


def _unstoppable(java: Any) -> Any:
    """The owner's Java context, whose `stop()` leaves it running: users' scripts end with one."""
    from py4j.java_gateway import JavaObject

    class Unstoppable(JavaObject):  # type: ignore[misc]  # py4j is published without types
        def stop(self) -> None:
            """Nothing: other tasks are at work in it."""

    stable = Unstoppable(java._target_id, java._gateway_client)
    # Both name one thing in the JVM, which forgets it when the first of them is gone.
    object.__setattr__(stable, "_owner", java)
    return stable
