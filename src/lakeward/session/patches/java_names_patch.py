"""Py4J looks up the name of a Java package, class or static method once, instead of at every use.

For `jvm.org.apache.spark.sql.functions.col`, Py4J asks the JVM for each part of the name. The JVM tries to
load a class `org`, then a class `org.apache`, and searches all jars for each. An update of the sample
lakehouse in which nothing changed had 20,000 calls to the JVM, 7,000 of them lookups.

`scala.collection.JavaConversions`, which runtimes before 17 have and the Scala of Spark 4 lacks, is served
here: notebooks read the tags of their context with `sc._jvm.….JavaConversions.mapAsJavaMap(context.tags())`.
Source: https://www.scala-lang.org/api/2.12.18/scala/collection/JavaConversions$.html
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from lakeward.patching import PatchSpec, Wrapped
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


def _keep_found(before: Wrapped) -> Any:
    from py4j.java_gateway import JavaClass, JavaMember, JavaPackage

    @wraps(before)
    def find(self: Any, name: str) -> Any:
        if name == "JavaConversions" and vars(self).get("_fqn") == "scala.collection":
            return JavaConversions()
        found = before(self, name)
        # Py4J takes every unknown name for a package: one in upper case may become a class, by an import or
        # with a jar. What is neither is the value of a static field, which can change.
        if isinstance(found, JavaClass | JavaMember) or (isinstance(found, JavaPackage) and name.islower()):
            vars(self)[name] = found
        return found

    return find


_REASON = "a Java name is looked up once"
PATCHES = tuple(
    PatchSpec(f"py4j.java_gateway:{owner}", "__getattr__", "session", _REASON, _keep_found)
    for owner in ("JVMView", "JavaPackage", "JavaClass")
)
