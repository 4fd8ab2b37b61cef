"""Errors of Spark and Delta are exceptions of PySpark, with a condition, a message and the user's names.

- PySpark knows some classes of the JVM's exceptions. Of others, such as a violated constraint, the user got
  Py4J's error, which has no condition.
- `getMessage` of PySpark's exceptions fills Spark's own templates, and fails for a condition of Delta, which
  is not among them. PySpark calls it for every error with a position in a statement.
- Some errors have a number for a condition, and a name in the list of Databricks (`named_conditions`).
- Spark's session catalog has one level of databases: `IdentifierCodec` joins catalog and schema into one
  name, `main__default`. Errors about functions, partitions and databases contain this name.
"""

from __future__ import annotations

import re
from functools import cache, partial, wraps
from typing import Any, cast

from lakeward.patching import PatchSpec, Wrapped, install
from lakeward.session.missing_folders import empty_folder_hint
from lakeward.session.patches.named_conditions import PATCHES as NAMES
from lakeward.session.patches.named_conditions import named_answer, with_name
from lakeward.session.paths import PathMap
from lakeward.session.settings import Settings
from lakeward.spark_internals import current_gateway

# `main__default`.`f`, spark_catalog.main__default.t: a joined name, with what follows or comes before it.
_JOINED = re.compile(
    r"(?P<session>`?spark_catalog`?\.)?(?P<quote>`?)\b(?P<catalog>[a-z0-9]+(?:_[a-z0-9]+)*)__"
    r"(?P<schema>[a-z0-9]+(?:_[a-z0-9]+)*)(?P=quote)(?P<table>\.`?\w)?"
)
_NO_CATALOG = "CATALOG_NOT_FOUND"
_NO_SCHEMA = "UNABLE_TO_INFER_SCHEMA"
_NO_GEOMETRIES = "DELTA_GEOSPATIAL_NOT_SUPPORTED"
# The platform stores them: only the user's own code can bridge the difference.
_STORED_GEOMETRY = (
    "Databricks stores GEOMETRY and GEOGRAPHY columns, this version of Delta does not. Store st_aswkb(g) in "
    "a BINARY column, and read it with st_geomfromwkb(g, srid) or st_geogfromwkb(g)."
)
_ESCAPED = re.compile(r"_u([0-9a-f]{4})")


def install_errors_patches(settings: Settings) -> None:
    """Change how PySpark presents errors of the JVM."""
    *methods, conversion = PATCHES
    install(methods)
    conversion.remove()
    conversion.install(partial(_convert_exception, settings=settings))


def with_users_names(text: str, catalogs: frozenset[str]) -> str:
    """Return an error's text with the names of `catalogs` and their schemas, instead of the joined ones.

    >>> with_users_names("no `main__default`.`f`, or spark_catalog.main__s.t", frozenset({"main"}))
    'no `main`.`default`.`f`, or main.s.t'
    >>> with_users_names("no `main__id`, no `other__s`.`t`", frozenset({"main"}))
    'no `main__id`, no `other__s`.`t`'
    """

    def named(match: re.Match[str]) -> str:
        catalog, schema = _decode(match["catalog"]), _decode(match["schema"])
        if catalog not in catalogs or not (match["session"] or match["table"]):
            return match[0]
        quote = match["quote"]
        return f"{quote}{catalog}{quote}.{quote}{schema}{quote}{match['table'] or ''}"

    return _JOINED.sub(named, text)


def _decode(name: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), name)


def _convert_exception(before: Wrapped, *, settings: Settings) -> Any:
    warehouse = settings.warehouse

    @wraps(before)
    def convert_exception(e: Any) -> Any:
        e = _with_catalog_error(e)
        converted = with_name(_convert_with_condition(before(e), e))
        text = getattr(converted, "_desc", None)
        if text and "__" in text and warehouse.is_dir():
            catalogs = frozenset(each.name for each in warehouse.iterdir())
            converted._desc = with_users_names(text, catalogs)
        if text and text.startswith(f"[{_NO_SCHEMA}"):
            gateway: Any = current_gateway()
            paths = gateway.jvm.lakeward.ReadPaths.last()
            hint = empty_folder_hint(map(str, paths), PathMap.of(settings))
            converted._desc += f" {hint}" if hint else ""
        if text and _NO_GEOMETRIES in text and _STORED_GEOMETRY not in text:
            converted._desc = f"{text.rstrip()} {_STORED_GEOMETRY}"
        return converted

    return convert_exception


def _with_catalog_error(e: Any) -> Any:
    """Return the error that the platform has instead of Spark's for a catalog that is not registered."""
    if _condition(e) != _NO_CATALOG:
        return e
    gateway: Any = current_gateway()
    return gateway.jvm.lakeward.CatalogNames.notFound(e.getMessageParameters()["catalogName"])


def _convert_with_condition(converted: Any, e: Any) -> Any:
    """Return the exception of an error with a condition whose class PySpark does not know.

    An error whose cause has a condition, such as TASK_WRITE_FAILED, does not say what happened.
    """
    from pyspark.errors.exceptions.captured import UnknownException

    if not isinstance(converted, UnknownException):
        return converted
    if not _condition(e):
        return _missing_path_error(e) or _generation_error(e) or converted
    return converted if _condition(e.getCause()) else _conditional_error()(e)


# Delta reports a path that does not exist as Java does. Its own texts are those of its conditions.
_MISSING_PATHS = {
    re.compile(r"File (?:file:)?(?P<path>.*)/_delta_log does not exist"): (
        "DELTA_TABLE_NOT_FOUND",
        "Delta table `{path}` doesn't exist.",
    ),
    re.compile(r"(?:file:)?(?P<path>.*) doesn't exist"): (
        "DELTA_PATH_DOES_NOT_EXIST",
        "{path} doesn't exist, or is not a Delta table.",
    ),
}


def _missing_path_error(e: Any) -> Any:
    """Return an AnalysisException for Java's FileNotFoundException of time travel and CONVERT TO DELTA."""
    from py4j.java_gateway import is_instance_of
    from pyspark.errors import AnalysisException

    if not is_instance_of(current_gateway(), e, "java.io.FileNotFoundException"):
        return None
    for pattern, (condition, text) in _MISSING_PATHS.items():
        match = pattern.fullmatch(str(e.getMessage()))
        if match is not None:
            path = match["path"]
            return AnalysisException(text.format(path=path), condition, {"path": path})
    return None


def _generation_error(e: Any) -> Any:
    """Return an AnalysisException for a generated column whose expression one row does not determine.

    Spark looks for a projection of the analyzed expression, and finds an aggregation, window or generator.
    """
    from py4j.java_gateway import is_instance_of
    from pyspark.errors import AnalysisException

    if not is_instance_of(current_gateway(), e, "java.util.NoSuchElementException"):
        return None
    if not any("GeneratedColumn" in str(frame) for frame in e.getStackTrace()[:6]):
        return None
    reason = "its generation expression has an aggregate, a window function or a generator"
    return AnalysisException(
        f"Cannot create a generated column because {reason}.",
        "UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
        {"reason": reason},
    )


def _condition(e: Any) -> str | None:
    from py4j.java_gateway import is_instance_of

    if e is None or not is_instance_of(current_gateway(), e, "org.apache.spark.SparkThrowable"):
        return None
    return cast("str | None", e.getCondition())


@cache
def _conditional_error() -> Any:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors.exceptions.captured import CapturedException

    class SparkThrowableException(CapturedException, Py4JJavaError):  # type: ignore[misc]  # Py4J has no types
        """An error with a condition; also what PySpark raises for it, for code that catches that."""

        def __init__(self, origin: Any) -> None:
            Py4JJavaError.__init__(self, str(origin.getMessage()), origin)
            CapturedException.__init__(self, origin=origin)

    return SparkThrowableException


def _get_message(before: Wrapped) -> Any:
    from py4j.protocol import Py4JJavaError

    @wraps(before)
    def get_message(self: Any) -> str:
        if named_answer(self, "getCondition"):
            return str(self._desc)
        try:
            return str(before(self))
        except Py4JJavaError:
            return str(self._origin.getMessage())

    return get_message


PATCHES = (
    *NAMES,
    PatchSpec(
        "pyspark.errors.exceptions.captured:CapturedException",
        "getMessage",
        "session",
        "errors of Delta have a message: Spark's templates do not have their conditions",
        _get_message,
    ),
    PatchSpec(
        "pyspark.errors.exceptions.captured",
        "convert_exception",
        "session",
        "errors have a condition, and name catalog and schema, not the database in which Spark keeps them",
    ),
)
