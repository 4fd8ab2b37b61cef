"""What in Python code is a use of Spark, Delta or the platform."""

from __future__ import annotations

import ast
import re

from lakeward.check.code.chains import Link, entries
from lakeward.check.code.environment import Environment
from lakeward.check.code.file_access import files_of
from lakeward.check.collector import Sink
from lakeward.check.model import STREAM_STARTS, WITHOUT_TRIGGER, Kind
from lakeward.check.sql.constructs import missing_functions_in
from lakeward.check.values import HOLE, Text, text_of

_MODULES = re.compile(
    r"(dlt|delta|databricks|dbruntime|mlflow|pyspark\.(pipelines|dbutils|databricks))(\.|$)"
)
# What lakeward itself brings or answers.
_PROVIDED = re.compile(r"(dlt|delta|databricks|dbruntime|pyspark|py4j|__future__)(\.|$)")
_PATHS = re.compile(
    r"(/Volumes/|/dbfs/|/Workspace/|/mnt/|/FileStore/|/databricks-datasets/|(dbfs|s3[an]?|gs|abfss?|wasbs?|adl):/)"
    r"[^\s'\"]+"
)
_BUILTINS = frozenset(("display", "displayHTML", "sc", "sqlContext", "getArgument"))
_SPARK_KINDS = frozenset(("spark", "frame", "catalog", "context_class", "stream_writer", "builder"))
_READS = {
    ("spark", "table"): 0,
    ("reader", "table"): 0,
    ("stream_reader", "table"): 0,
    ("delta_class", "forName"): 1,
    ("writer", "insertInto"): 0,
}
# They end with their session.
_TEMPORARY = (
    ("stream_writer", "queryName"),
    *(("frame", f"create{how}{reach}TempView") for how in ("", "OrReplace") for reach in ("", "Global")),
)
_CREATES = {
    ("writer", "saveAsTable"): 0,
    ("stream_writer", "toTable"): 0,
    ("stream_writer", "table"): 0,
    ("lakehouse", "seed"): 0,
    ("frame", "writeTo"): 0,
    ("delta_builder", "tableName"): 0,
    ("catalog", "createTable"): 0,
    ("catalog", "createExternalTable"): 0,
    **dict.fromkeys(_TEMPORARY, 0),
}
# They create a table in a schema that has to be there.
_WRITES = frozenset(
    (
        *(("writer", "saveAsTable"), ("frame", "writeTo")),
        *(("stream_writer", "toTable"), ("stream_writer", "table")),
        *(("delta_builder", "tableName"), ("catalog", "createTable"), ("catalog", "createExternalTable")),
    )
)
_EXPRESSIONS = frozenset(("expr", "selectExpr", "where", "filter", "when"))
_SQL = {("spark", "sql"): "sqlQuery"}


def report_import(node: ast.Import | ast.ImportFrom, sink: Sink, *, guarded: bool) -> None:
    """Report modules that the platform has and plain PySpark has not."""
    imports: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif node.level or node.module is None:
        return
    elif node.module in (
        "pyspark",
        "pyspark.databricks",
        "pyspark.databricks.sql",
        "databricks",
        "dbruntime",
    ):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        names = [node.module]
        # Of a namespace, the name that is imported can be the package: `from google.cloud import storage`.
        imports = [f"{node.module}.{alias.name}" for alias in node.names if alias.name.islower()]
    for name in names:
        if _MODULES.match(name):
            sink.emit("module", name, node.lineno, node.col_offset + 1, guarded=guarded)
    for name in imports or names:
        if not _PROVIDED.match(name):
            sink.emit("import", name, node.lineno, node.col_offset + 1, guarded=guarded)


def report_paths(node: ast.expr, value: Text | None, sink: Sink) -> None:
    """Report paths that only the platform has."""
    if value is not None and (found := _PATHS.match(value.value)) is not None:
        sink.emit("path", found.group(), node.lineno, node.col_offset + 1)


def report_chain(root: ast.expr, links: list[Link], environment: Environment, sink: Sink) -> None:
    """Report everything that is reached through a session, a DataFrame, a reader, a writer or `dbutils`."""
    kinds = environment.kinds_along(root, links)
    files_of(root, links, kinds, environment, sink)
    if isinstance(root, ast.Name) and root.id in _BUILTINS and root.id not in environment.kinds:
        detail = environment.origins.get(root.id)
        sink.emit("builtin", root.id, root.lineno, root.col_offset + 1, detail)
    if "dbutils" in kinds:
        origin = environment.origins.get(root.id) if isinstance(root, ast.Name) else None
        first = kinds.index("dbutils")
        # An attribute may hold something else than dbutils: `self.dbutils = dbutils.widgets`.
        is_attribute = first > 0 and kinds[first - 1] is None
        _dbutils(links[first:], links[first - 1].name if is_attribute else origin, sink)
        return
    if isinstance(root, ast.Name) and links and not links[0].name:
        origin = environment.origins.get(root.id, "")
        if origin.startswith("databricks.sdk.runtime.") or root.id in ("sql", "table"):
            _free_call(root.id, links[0], environment, sink)
    for kind, link in zip(kinds, links, strict=False):
        # A chain begins to be a DataFrame with the first step that only a DataFrame has.
        owner = kind or _proven(link.name)
        if owner is not None and link.name:
            _step(owner, link, links, environment, sink)
    _options(links, environment, sink)
    _pipeline_sink(root, links, environment, sink)
    for link in links:
        if link.name in _EXPRESSIONS and link.call is not None:
            _expressions(link, environment, sink)


def _step(owner: str, link: Link, links: list[Link], environment: Environment, sink: Sink) -> None:
    """Report what a link of a chain does with `owner`, the kind of object before it."""
    if owner in _SPARK_KINDS:
        starts_stream = owner == "stream_writer" and link.name in STREAM_STARTS
        detail = _untriggered(links) if starts_stream else _keyword(link)
        sink.emit("spark", f"{owner}.{link.name}", link.line, link.column, detail)
    _tables(owner, link, environment, sink)
    if owner == "conf" and link.name in ("get", "set"):
        _conf(link, environment, sink)


def _pipeline_sink(root: ast.expr, links: list[Link], environment: Environment, sink: Sink) -> None:
    """Report the table that a sink of a pipeline writes: `create_sink(…, options={"tableName": …})`."""
    for link in links:
        name = link.name or (root.id if isinstance(root, ast.Name) else "")
        options = link.argument(2, "options") if name == "create_sink" else None
        if not isinstance(options, ast.Dict):
            continue
        for key, value in entries(options, environment.constants):
            table = _table_name(value, environment) if key.lower() == "tablename" else None
            if table is not None:
                sink.emit("creates", table, value.lineno, value.col_offset + 1, "written")


def _table_name(node: ast.expr | None, environment: Environment) -> str | None:
    """Return the name of a table, with holes for what only a run knows; None if it begins with one."""
    found = text_of(node, environment.constants)
    return None if found is None or found.value.startswith(HOLE + HOLE) else found.value


def _expressions(link: Link, environment: Environment, sink: Sink) -> None:
    """Report functions of the platform in expressions of SQL: `F.expr("bit_reverse(a)")`."""
    for argument in link.call.args if link.call is not None else ():
        found = text_of(argument, environment.constants)
        for name in missing_functions_in(found.value) if found is not None else ():
            sink.emit("sql", name, link.line, link.column)


def _proven(name: str) -> str | None:
    if name in ("saveAsTable", "insertInto"):
        return "writer"
    if name == "toTable":
        return "stream_writer"
    return "frame" if ("frame", name) in _CREATES or name == "rdd" else None


def _free_call(name: str, link: Link, environment: Environment, sink: Sink) -> None:
    argument = link.argument(0)
    found = text_of(argument, environment.constants)
    if found is None or name in environment.kinds:
        return
    if name == "sql":
        sink.sql(found)
    elif name == "table" and environment.origins.get(name, "").startswith("databricks.sdk.runtime"):
        sink.emit("reads", found.value, link.line, link.column)


def _tables(owner: str, link: Link, environment: Environment, sink: Sink) -> None:
    key = (owner, link.name)
    if key in _SQL and link.call is not None:
        found = text_of(link.argument(0, _SQL[key]), environment.constants)
        if found is not None:
            sink.sql(found)
        return
    tables: tuple[tuple[Kind, dict[tuple[str, str], int]], ...] = (("reads", _READS), ("creates", _CREATES))
    for kind, table in tables:
        if key in table and link.call is not None:
            argument = link.argument(table[key], "tableName") or link.argument(table[key], "name")
            name = _table_name(argument, environment)
            if name is not None:
                prefix = "global_temp." if "GlobalTempView" in link.name else ""
                detail = "written" if key in _WRITES else "temporary" if key in _TEMPORARY else None
                sink.emit(kind, prefix + name, link.line, link.column, detail)


def _dbutils(links: list[Link], origin: str | None, sink: Sink) -> None:
    names: list[str] = []
    for link in links:
        if not link.name:
            continue
        names.append(link.name)
        if link.call is not None:
            break
    if names:
        at = links[0]
        sink.emit("dbutils", ".".join(names), at.line, at.column, origin)


def _conf(link: Link, environment: Environment, sink: Sink) -> None:
    key = text_of(link.argument(0, "key"), environment.constants)
    if key is not None:
        how = "set" if link.name == "set" else "default" if link.argument(1, "default") is not None else "get"
        sink.emit("conf", key.value, link.line, link.column, how)


def _options(links: list[Link], environment: Environment, sink: Sink) -> None:
    """Report formats and options of Auto Loader: all of a `cloudFiles` chain, elsewhere by prefix."""
    constants = environment.constants
    formats = [
        (link, found)
        for link in links
        if link.name == "format" and link.call and (found := text_of(link.argument(0, "source"), constants))
    ]
    is_cloud_files = any(found.value.lower() == "cloudfiles" for _, found in formats)
    for link, found in formats:
        sink.emit("format", found.value, link.line, link.column)
    for link in links:
        if link.call is None or link.name not in ("option", "options"):
            continue
        for key, value in _given(link, environment):
            if is_cloud_files or _is_prefixed(key):
                line, column = link.line, link.column
                if link.name == "options":
                    line, column = value.lineno, value.col_offset + 1
                sink.emit("option", key, line, column, _value(value, environment))


def report_options(node: ast.Dict, environment: Environment, sink: Sink) -> None:
    """Report Auto Loader's options in a dict that is written out, wherever it goes."""
    for key, value in entries(node, environment.constants):
        if _is_prefixed(key):
            sink.emit("option", key, value.lineno, value.col_offset + 1, _value(value, environment))


def _is_prefixed(key: str) -> bool:
    return key.lower().startswith("cloudfiles.")


def _given(link: Link, environment: Environment) -> list[tuple[str, ast.expr]]:
    if link.name == "options":
        # Those with Auto Loader's prefix are found in whatever dict they stand.
        return [(key, value) for key, value in link.keywords() if not _is_prefixed(key)]
    key, value = text_of(link.argument(0, "key"), environment.constants), link.argument(1, "value")
    return [(key.value, value)] if key is not None and value is not None else []


def _value(node: ast.expr, environment: Environment) -> str | None:
    """Return an option's value as Spark gets it; None for what only a run would know."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        return str(node.value).lower() if isinstance(node.value, bool) else str(node.value)
    found = text_of(node, environment.constants)
    return found.value if found is not None and HOLE not in found.value else None


def _keyword(link: Link) -> str | None:
    """Return the names of the keywords that a step is called with, for those where they matter."""
    return ",".join(sorted(name for name, _ in link.keywords())) or None if link.call else None


def _untriggered(links: list[Link]) -> str | None:
    names = {link.name for link in links}
    return WITHOUT_TRIGGER if "writeStream" in names and "trigger" not in names else None
