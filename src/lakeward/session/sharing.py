"""One JVM for several processes: a job's tasks use the one of the process that started them.

The owner opens a gateway of its own for each process, so that calls back into Python reach the right one.
The borrower has a session of its own in the owner's context, and never stops that context.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Offer", "Shared", "borrow", "borrowed", "borrowed_parts", "offer"]


@dataclass(frozen=True)
class Shared:
    """Where a JVM listens for one process, and the tag that this process's Spark jobs carry."""

    port: int
    secret: str
    tag: str


class Offer:
    """A gateway that is open for one process; `close` also ends what that process left running."""

    def __init__(self, spark: SparkSession, tag: str) -> None:
        jvm: Any = spark._jvm
        self._context = spark.sparkContext._jsc.sc()
        self._server = jvm.org.apache.spark.api.python.Py4JServer(self._context.conf())
        self._server.start()
        self._tag = tag

    @property
    def shared(self) -> Shared:
        """What the other process needs to know."""
        return Shared(int(self._server.getListeningPort()), str(self._server.secret()), self._tag)

    def close(self) -> None:
        """Cancel the process's Spark jobs and close its gateway; a JVM that is gone has done so."""
        with suppress(Exception):
            self._context.cancelJobsWithTag(self._tag)
        with suppress(Exception):
            self._server.shutdown()


_borrowed: Shared | None = None
_lend: Callable[[], Shared | None] | None = None


def offer(spark: SparkSession, tag: str) -> Offer:
    """Open the JVM of `spark` for another process of this user."""
    return Offer(spark, tag)


def borrow(lend: Callable[[], Shared | None]) -> None:
    """From now on a session of this process is one in the JVM that `lend` names when the first is made.

    With None it is one in a JVM of its own.
    """
    global _lend  # noqa: PLW0603  # one JVM a process, as in Spark itself
    _lend = lend


def borrowed() -> Shared | None:
    """The JVM of another process that this one uses, if it does; asks for it the first time."""
    global _borrowed, _lend
    if _lend is not None:
        _borrowed, _lend = _lend(), None
    return _borrowed


def borrowed_parts(shared: Shared) -> dict[str, Any]:
    """Arguments of the SparkContext that stands on the owner's."""
    from pyspark import SparkConf

    from lakeward.session.gateway import connect

    gateway = connect(shared.port, shared.secret)
    jvm = gateway.jvm
    scala = jvm.org.apache.spark.SparkContext.getOrCreate()
    scala.addJobTag(shared.tag)
    java = jvm.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(scala)
    return {"gateway": gateway, "conf": SparkConf(_jconf=scala.conf()), "jsc": _unstoppable(java)}


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
