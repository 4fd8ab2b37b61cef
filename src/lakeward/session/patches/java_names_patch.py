"""Py4J looks up the name of a Java package, class or static method once, instead of at every use.

For `jvm.org.apache.spark.sql.functions.col`, Py4J asks the JVM for each part of the name. The JVM tries to
load a class `org`, then a class `org.apache`, and searches all jars for each. An update of the sample
lakehouse in which nothing changed had 20,000 calls to the JVM, 7,000 of them lookups.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from lakeward.patching import PatchSpec
from lakeward.session.patches.scala_conversions import JavaConversions


def _keep_found(before: Any) -> Any:
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
