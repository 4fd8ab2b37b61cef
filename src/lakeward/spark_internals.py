"""The one place that touches private attributes of PySpark: the adapter to the JVM behind a session.

All other code calls these functions, so support for another Spark release is a change of this module. JVM
objects have no Python type; they are annotated as `JavaObject`. Importing this module imports no PySpark.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from delta.tables import DeltaTable
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.readwriter import DataFrameWriter
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import DataType, StructType

JavaObject = Any
"""An object, class or package of the JVM, reached through Py4J."""

_thread = threading.local()
_INHERITED = "_lakeward_session"


# --- the JVM and its gateway


def jvm_view(spark: SparkSession) -> JavaObject:
    """Return the root of the JVM's packages: `jvm_view(spark).java.lang.System`."""
    return spark._jvm


def java_gateway(spark: SparkSession) -> JavaObject:
    """Return the Py4J gateway of a session."""
    return spark._sc._gateway


def java_thread_id(spark: SparkSession) -> int:
    """Return the JVM's id of the thread that serves this one.

    In a call from the JVM it is the thread that calls, and so the one that serves the thread which waits.
    """
    jvm: Any = jvm_view(spark)
    return int(jvm.java.lang.Thread.currentThread().getId())


def current_gateway() -> JavaObject | None:
    """Return the Py4J gateway of this process, None before a JVM was started."""
    from pyspark import SparkContext

    return SparkContext._gateway


def java_array(spark: SparkSession, *texts: str) -> JavaObject:
    """Return a Java `String[]`."""
    gateway = java_gateway(spark)
    array = gateway.new_array(gateway.jvm.java.lang.String, len(texts))
    for index, text in enumerate(texts):
        array[index] = text
    return array


def scala_list(sequence: JavaObject) -> list[Any]:
    """Return the elements of a Scala `Seq` as a list."""
    return [sequence.apply(index) for index in range(sequence.length())]


# --- contexts


def argument_columns(value: Any) -> list[Column]:
    """Return an argument of a function as columns: a column of the JVM, a sequence of them, or a literal."""
    from py4j.java_gateway import JavaObject as GatewayObject
    from pyspark.sql.classic.column import Column as ClassicColumn
    from pyspark.sql.functions import lit

    if not isinstance(value, GatewayObject):
        return [lit(value)]
    if value.getClass().getSimpleName() == "Column":
        return [ClassicColumn(value)]
    return [ClassicColumn(each) for each in scala_list(value)]


def java_column(column: Column) -> JavaObject:
    """Return the JVM's column behind a column."""
    return column._jc


def jvm_of(context: SparkContext) -> JavaObject:
    """Return the root of the JVM's packages, for code that has a context and no session."""
    return context._jvm


def scala_context(context: SparkContext) -> JavaObject:
    """Return the JVM's own SparkContext."""
    return context._jsc.sc()


def hadoop_conf_of(context: SparkContext) -> JavaObject:
    """Return the Hadoop configuration of a context; changes apply to file systems opened later."""
    return context._jsc.hadoopConfiguration()


def active_context() -> SparkContext | None:
    """Return the running SparkContext of this process, None where none was started."""
    from pyspark import SparkContext

    return SparkContext._active_spark_context


def attach_gateway(gateway: JavaObject) -> SparkContext:
    """Attach PySpark to a JVM without a context; return a SparkContext that was never started.

    It reaches the JVM and nothing else: enough for columns and types.
    """
    from pyspark import SparkContext

    SparkContext._ensure_initialized(gateway=gateway)
    return detached_context()


def detached_context() -> SparkContext:
    """Return the active context, or one that was never started and reaches the JVM only."""
    from pyspark import SparkContext

    return SparkContext._active_spark_context or object.__new__(SparkContext)


def new_conf(gateway: JavaObject, settings: Mapping[str, str]) -> SparkConf:
    """Return a SparkConf of these settings alone, without the JVM's system properties."""
    from pyspark import SparkConf

    conf = SparkConf(loadDefaults=False, _jvm=gateway.jvm)
    for key, value in settings.items():
        conf.set(key, value)
    return conf


def conf_from_java(java_conf: JavaObject) -> SparkConf:
    """Return a SparkConf around the JVM's."""
    from pyspark import SparkConf

    return SparkConf(_jconf=java_conf)


# --- sessions


def java_session(spark: SparkSession) -> JavaObject:
    """Return the JVM's own SparkSession."""
    return spark._jsparkSession


def session_id(spark: SparkSession) -> str:
    """Return the id of a session, which all Python objects of it share."""
    return str(java_session(spark).sessionUUID())


def session_of(reader: Any) -> SparkSession:
    """Return the session of a reader of Spark; a session is its own."""
    return getattr(reader, "_spark", reader)  # type: ignore[no-any-return]


def delta_log(spark: SparkSession, location: str) -> JavaObject:
    """Return Delta's log of the table in a folder, which need not exist."""
    logs: JavaObject = jvm_view(spark).org.apache.spark.sql.delta.DeltaLog
    return logs.forTable(java_session(spark), location)


def cloned_session(spark: SparkSession) -> SparkSession:
    """Return a session with the settings, schema, temporary views and listeners that `spark` has now."""
    from pyspark import RDD
    from pyspark.sql import SparkSession

    # The constructor lets `RDD.toDF` use the new session.
    to_df: Any = RDD.__dict__["toDF"]
    jvm: Any = jvm_view(spark)
    clone = SparkSession(spark.sparkContext, jvm.lakeward.StreamSessions.cloneSession(java_session(spark)))
    RDD.toDF = to_df  # type: ignore[method-assign]
    return clone


def session_state(spark: SparkSession) -> JavaObject:
    """Return the JVM's SessionState: catalog manager, parser, analyzer, settings."""
    return spark._jsparkSession.sessionState()


def catalog_manager(spark: SparkSession) -> JavaObject:
    """Return the JVM's CatalogManager of a session."""
    return session_state(spark).catalogManager()


def set_current_schema(spark: SparkSession, schema: str) -> None:
    """Make a schema of the current catalog the current one, whether it exists or not."""
    manager = catalog_manager(spark)
    field = manager.getClass().getDeclaredField("_currentNamespace")
    field.setAccessible(True)
    field.set(manager, jvm_view(spark).scala.Option.apply(java_array(spark, schema)))


def sql_parser(spark: SparkSession) -> JavaObject:
    """Return the JVM's SQL parser of a session, with lakeward's rewriting in front of Spark's."""
    return session_state(spark).sqlParser()


def split_identifier(spark: SparkSession, name: str) -> list[str]:
    """Return the parts of a dotted name as Spark's parser reads it; it raises ParseException."""
    return scala_list(sql_parser(spark).parseMultipartIdentifier(name))


def running_session() -> SparkSession | None:
    """Return the active or the last session of this process; None where its context was stopped."""
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession() or SparkSession._instantiatedSession
    if spark is None or getattr(spark, "_sc", None) is None or spark._sc._jsc is None:
        return None
    return spark


def activated_session() -> SparkSession | None:
    """Return the session of this thread's innermost `activated` block.

    None outside of such blocks, and where the block's code has made another session the active one, as
    `other.createDataFrame(…)` does.
    """
    spark = thread_session()
    if spark is None or spark._sc._jsc is None:
        return None
    active = _classic_sessions(spark).getActiveSession()
    return spark if active.isDefined() and active.get().equals(spark._jsparkSession) else None


def thread_session() -> SparkSession | None:
    """Return the session of this thread's innermost `activated` block, or of the code that started it."""
    found: SparkSession | None = getattr(_thread, "session", None)
    return found or getattr(threading.current_thread(), _INHERITED, None)


def inherit_session(thread: threading.Thread) -> None:
    """Let `thread`, which has not started, have the session of this one."""
    setattr(thread, _INHERITED, thread_session())


def activate_inherited_session() -> None:
    """Make the session that this thread has inherited the active one of its thread in the JVM."""
    spark: SparkSession | None = getattr(threading.current_thread(), _INHERITED, None)
    if spark is not None and spark._sc._jsc is not None:
        _classic_sessions(spark).setActiveSession(spark._jsparkSession)


def set_active_session(spark: SparkSession) -> None:
    """Make `spark` the active and the default session, in Python and in the JVM."""
    type(spark)._instantiatedSession = spark
    type(spark)._activeSession = spark
    sessions = _classic_sessions(spark)
    sessions.setActiveSession(spark._jsparkSession)
    sessions.setDefaultSession(spark._jsparkSession)


def reset_error_locations() -> None:
    """Let PySpark read again whether errors name the user's line: without a session it stores False."""
    from pyspark.errors import utils

    utils._enable_debugging_cache = None


@contextmanager
def activated(spark: SparkSession) -> Iterator[None]:
    """Yield a block in which `spark` is the active session of this thread, in the JVM and in Python.

    Afterwards the earlier one is active again, also when `createDataFrame` has made another one PySpark's.
    """
    sessions = _classic_sessions(spark)
    before, outer = sessions.getActiveSession(), getattr(_thread, "session", None)
    of_pyspark = type(spark)._activeSession
    sessions.setActiveSession(spark._jsparkSession)
    _thread.session = spark
    try:
        yield
    finally:
        _thread.session = outer
        type(spark)._activeSession = of_pyspark
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def apply_modifiable_settings(spark: SparkSession, settings: Mapping[str, str]) -> None:
    """Set what can be changed in a running session, as Spark's own builder does; log the rest."""
    from pyspark.sql import SparkSession

    module: Any = SparkSession._get_j_spark_session_module(spark._jvm)
    module.applyModifiableSettings(spark._jsparkSession, dict(settings))


def _classic_sessions(spark: SparkSession) -> JavaObject:
    return spark._jvm.org.apache.spark.sql.classic.SparkSession  # type: ignore[union-attr]  # a live session


# --- DataFrames and queries


def java_frame(frame: DataFrame) -> JavaObject:
    """Return the JVM's own Dataset."""
    return frame._jdf


def java_delta_table(table: DeltaTable) -> JavaObject:
    """Return the JVM's own DeltaTable."""
    return table._jdt


def inserted_rows(result: DataFrame, columns: str) -> DataFrame | None:
    """Return the numbers of rows of an INSERT that this thread has just run, None for other statements."""
    dataset = jvm_view(result.sparkSession).lakeward.InsertedRows.of(result._jdf, columns)
    return None if dataset is None else frame_from_java(dataset, result.sparkSession)


def require_format_of_table(writer: DataFrameWriter, table: str) -> None:
    """Raise Spark's error if the writer appends to an existing table of another format than its own."""
    java: Any = writer._jwrite
    if java.curmode().name() == "Append":
        jvm: Any = jvm_view(writer._spark)
        jvm.lakeward.RelationKind.requireFormat(java_session(writer._spark), table, java.source())


def require_file(context: SparkContext, path: str) -> None:
    """Raise PATH_NOT_FOUND for a path of this machine without a file."""
    jvm: Any = jvm_of(context)
    jvm.lakeward.AddedFiles.require(hadoop_conf_of(context), path)


def relation_kind(spark: SparkSession, name: Sequence[str], temporary_tables: str) -> str:
    """Return "temporary view" or "view" for the name of one, "" for tables, paths and unknown names.

    Temporary tables are those below a folder whose name contains `temporary_tables`.
    """
    jvm: Any = jvm_view(spark)
    kind: str = jvm.lakeward.RelationKind.of(java_session(spark), java_array(spark, *name), temporary_tables)
    return kind


def frame_from_java(dataset: JavaObject, spark: SparkSession) -> DataFrame:
    """Return a DataFrame around a Dataset of the JVM."""
    from pyspark.sql import DataFrame

    return DataFrame(dataset, spark)


def plan_below_filter(filtered: DataFrame) -> JavaObject | None:
    """Return the input of the filter that `where` made, with the columns that Spark added to it for its
    condition; None if it added none."""
    plan = analyzed_plan(filtered)
    if str(plan.nodeName()) != "Project":
        return None
    filter_plan = plan.child()
    return filter_plan.child() if str(filter_plan.nodeName()) == "Filter" else None


def frame_from_plan(spark: SparkSession, plan: JavaObject) -> DataFrame:
    """Return a DataFrame of a plan of the JVM."""
    jvm: Any = jvm_view(spark)
    return frame_from_java(jvm.org.apache.spark.sql.classic.Dataset.ofRows(java_session(spark), plan), spark)


def logical_plan(frame: DataFrame) -> JavaObject:
    """Return the plan as written."""
    return java_frame(frame).logicalPlan()


def analyzed_plan(frame: DataFrame) -> JavaObject:
    """Return the plan with all names resolved."""
    return java_frame(frame).queryExecution().analyzed()


def optimized_plan(frame: DataFrame) -> JavaObject:
    """Return the plan after the optimizer."""
    return java_frame(frame).queryExecution().optimizedPlan()


def executed_plan(frame: DataFrame) -> JavaObject:
    """Return the physical plan."""
    return java_frame(frame).queryExecution().executedPlan()


def java_function(function: Any) -> JavaObject:
    """Return the JVM's object of a Python function made by `udf` or `pandas_udf`."""
    return function._unwrapped._judf


def java_query(query: StreamingQuery) -> JavaObject:
    """Return the JVM's StreamExecution behind a streaming query."""
    return query._jsq.streamingQuery()


def use_python_progress(progress: Any, values: Any) -> None:
    """Let a progress object of a streaming query show `values` instead of the JVM's object."""
    progress._jdict, progress._jprogress = values, None


# --- Delta


def java_builder(builder: Any) -> JavaObject:
    """Return the JVM's own builder behind a DeltaTableBuilder."""
    return builder._jbuilder


# --- observed metrics


def is_pending(observation: Any) -> bool:
    """Return whether an Observation is attached to a DataFrame whose first action has not ended."""
    attached = observation._jo
    return attached is not None and not attached.future().isCompleted()


def parse_schema(text: str) -> DataType:
    """Return the type of a DDL string."""
    from pyspark.sql import types

    return types._parse_datatype_string(text)


def to_arrow(rows: list[Any], schema: StructType) -> Any:
    """Return rows as an Arrow table, converted as the client of Spark Connect does.

    Raises what the conversion raises for rows that do not fit the schema.
    """
    from pyspark.sql.conversion import LocalDataToArrowConversion

    return LocalDataToArrowConversion.convert(rows, schema, False)
