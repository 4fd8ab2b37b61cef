"""`scala.collection.JavaConversions`, which runtimes before 17 have and the Scala of Spark 4 lacks.

Notebooks of those runtimes read the tags of their context with
`sc._jvm.scala.collection.JavaConversions.mapAsJavaMap(context.tags())`.
Source: https://www.scala-lang.org/api/2.12.18/scala/collection/JavaConversions$.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.session.runtimes.profiles import find_profile
from lakeward.spark_internals import active_context, jvm_of

_TO_JAVA = frozenset(
    (
        *("mapAsJavaMap", "mutableMapAsJavaMap", "seqAsJavaList", "mutableSeqAsJavaList", "bufferAsJavaList"),
        *("setAsJavaSet", "mutableSetAsJavaSet", "asJavaIterable", "asJavaCollection", "asJavaIterator"),
    )
)
_TO_SCALA = frozenset(
    (
        *("mapAsScalaMap", "asScalaBuffer", "asScalaSet", "asScalaIterator", "iterableAsScalaIterable"),
        "collectionAsScalaIterable",
    )
)

_is_served = False


def use_profile(profile: str) -> None:
    """Serve the class where the runtime has Scala 2.12."""
    global _is_served  # noqa: PLW0603  # Py4J's classes are shared by the process, and so is this
    runtime = find_profile(profile)
    # Scala 2.13 and ANSI mode came with the same runtime, 17, and with serverless compute.
    _is_served = runtime is not None and not runtime.ansi


class JavaConversions:
    """The static methods of the class, for collections of the JVM and for the tags of a notebook."""

    def __getattr__(self, name: str) -> Callable[[Any], Any]:
        if name not in _TO_JAVA | _TO_SCALA:
            raise AttributeError(f"scala.collection.JavaConversions.{name} does not exist in the JVM")
        if not _is_served:
            return _refuse
        return _to_java if name in _TO_JAVA else _to_scala


def _refuse(_: Any) -> Any:
    raise TypeError(
        "'JavaPackage' object is not callable: Scala 2.13 of runtime 17 and later has no JavaConversions. "
        "--runtime 16.4 runs code that was written before."
    )


def _to_java(value: Any) -> Any:
    # Tags of a notebook's context are in Python, and a dictionary has what Py4J's JavaMap has.
    own = getattr(type(value), "asJava", None)
    return own(value) if own is not None else _converters().asJava(value)


def _to_scala(value: Any) -> Any:
    return _converters().asScala(value)


def _converters() -> Any:
    context = active_context()
    if context is None:
        raise RuntimeError("There is no Spark session.")
    return jvm_of(context).scala.jdk.javaapi.CollectionConverters
