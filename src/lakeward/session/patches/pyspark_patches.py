"""Changes to PySpark that every session has, one function each."""

from __future__ import annotations

from contextlib import redirect_stdout
from functools import partial, wraps
from io import StringIO
from typing import Any

from lakeward.patching import Order, PatchSpec, Wrapped
from lakeward.session.configuration.user_conf import SHUFFLE_PARTITIONS, accepted_value, is_automatic
from lakeward.spark_internals import (
    active_context,
    argument_columns,
    inserted_rows,
    java_column,
    java_session,
    jvm_of,
    jvm_view,
    require_file,
    require_format_of_table,
)

INSERTED_COLUMNS = "num_affected_rows BIGINT, num_inserted_rows BIGINT"
"""The result of INSERT."""


def default_partitions() -> str:
    """Return the number of shuffle partitions with which the session began."""
    context = active_context()
    # 200 is Spark's own.
    return str(context.getConf().get(SHUFFLE_PARTITIONS, "200")) if context is not None else "200"


def _sql(before: Wrapped) -> Any:
    """`spark.sql("INSERT …")` returns the numbers of rows of a Delta table, as on Databricks.

    Spark returns a DataFrame without columns. `session/jvm/InsertedRows.java` reads the numbers from the
    commit.
    """

    @wraps(before)
    def sql(self: Any, sqlQuery: str, *args: Any, **kwargs: Any) -> Any:
        result = before(self, sqlQuery, *args, **kwargs)
        # Each question to the JVM takes time.
        if "insert" in str(sqlQuery).lower():
            return inserted_rows(result, INSERTED_COLUMNS) or result
        return result

    return sql


def _set(before: Wrapped) -> Any:
    """`spark.sql.shuffle.partitions` takes `auto`, as on Databricks: the session's own number is used.

    Automatic compaction takes the platform's words, too. Spark refuses them. A number is stored instead of
    `auto`, since checkpoints record the setting: the state of a stream needs the same number of partitions in
    every run. AQE coalesces the partitions of queries either way.

    Source: https://docs.databricks.com/aws/en/optimizations/aqe
    """

    @wraps(before)
    def set(self: Any, key: str, value: Any) -> None:  # noqa: A001  # as PySpark names it
        before(self, key, default_partitions() if is_automatic(key, value) else accepted_value(key, value))

    return set


def _on(before: Wrapped) -> Any:
    """`Observation` of rows that create or replace a Delta table has values, as on Databricks.

    It waits for the execution in which Delta writes the files.
    """

    @wraps(before)
    def on(self: Any, df: Any, *exprs: Any) -> Any:
        spark = df.sparkSession
        jvm: Any = jvm_view(spark)
        jvm.lakeward.ObservedWrites.watch(java_session(spark))
        return before(self, df, *exprs)

    return on


def _explain(before: Wrapped) -> Any:
    """`explain` names tables as users do: catalog and schema, not the database that joins the two."""

    @wraps(before)
    def explain(self: Any, *args: Any, **kwargs: Any) -> None:
        with redirect_stdout(StringIO()) as printed:
            before(self, *args, **kwargs)
        jvm: Any = jvm_view(self.sparkSession)
        print(jvm.lakeward.ShownNames.shown(printed.getvalue()), end="")

    return explain


def _get_jvm_function(before: Wrapped) -> Any:
    """Functions take columns where Spark Classic takes plain values, as Spark Connect does.

    Serverless compute and clusters in standard access mode run Spark Connect. Its functions make a literal of
    every plain value, and a column is a column already: `F.to_date("d", F.lit("yyyy"))` and
    `F.date_trunc(F.col("unit"), "t")` are what SQL allows. Spark Classic passes the argument to the JVM as it
    is, and fails with NOT_ITERABLE. Such a call goes to the function of SQL, as Connect sends it.

    `from_json` without a schema is the same call in Python as in SQL, too: in pipelines,
    `from_json(column, None, {"schemaLocationKey": …})` infers the schema, elsewhere it is refused. The Java
    function does not check its argument: the call ended with a NullPointerException, where SQL's
    `from_json(column, NULL)` has a condition.
    """

    @wraps(before)
    def get_jvm_function(name: str, sc: Any) -> Any:
        return partial(_call, name, before(name, sc))

    return get_jvm_function


def _call(name: str, function: Any, *args: Any) -> Any:
    from pyspark.sql import Column, functions

    if name == "from_json" and args[1] is None:
        args = (args[0], java_column(functions.lit(None)), *args[2:])
    if not any(isinstance(each, Column) for each in args):
        return function(*args)
    columns = [column for each in args for column in argument_columns(each)]
    return java_column(functions.call_function(name, *columns))


def _wrap_function(before: Wrapped) -> Any:
    """Streams of one Python data source can start at the same time.

    Spark keeps the environment variables of a registered data source in one `HashMap`. Each stream that
    starts adds variables to it (`PythonStreamingSourceRunner.init`), and the tasks of all streams contain it.
    Two streams that add at once leave a map whose size is greater than its number of entries: every later
    task then ends with `java.io.OptionalDataException`.
    """

    @wraps(before)
    def wrap(sc: Any, func: Any, returnType: Any = None) -> Any:
        from pyspark.sql.datasource import DataSource

        function = before(sc, func, returnType)
        if not (isinstance(func, type) and issubclass(func, DataSource)):
            return function
        jvm = jvm_of(sc)
        return jvm.SimplePythonFunction(
            function.command(),
            jvm.java.util.concurrent.ConcurrentHashMap(function.envVars()),
            function.pythonIncludes(),
            function.pythonExec(),
            function.pythonVer(),
            function.broadcastVars(),
            function.accumulator(),
        )

    return wrap


def _add_archive(before: Wrapped) -> Any:
    """`SparkContext.addArchive` of a file that does not exist has no effect on later jobs.

    Spark registers the archive before it reads it, and each task of a later job then fails to fetch it.
    """

    @wraps(before)
    def addArchive(self: Any, path: str) -> None:  # noqa: N802  # as PySpark names it
        require_file(self, path)
        before(self, path)

    return addArchive


def _save_as_table(before: Wrapped) -> Any:
    """`saveAsTable` appends to a table of the writer's format alone, as in Spark's own catalog.

    Spark compares the formats for tables of its session catalog (`PreprocessTableCreation`). For others it
    ignores the writer's format, so that `format("parquet")` appended to a Delta table.
    """

    @wraps(before)
    def saveAsTable(  # noqa: N802  # as PySpark names it
        self: Any,
        name: str,
        format: Any = None,
        mode: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if format is not None:
            self.format(format)
        self.mode(mode)
        require_format_of_table(self, name)
        before(self, name, None, None, *args, **kwargs)

    return saveAsTable


PATCHES = (
    PatchSpec(
        "pyspark.sql.session:SparkSession",
        "sql",
        "session",
        "INSERT into a Delta table returns num_affected_rows and num_inserted_rows",
        _sql,
        Order.SOURCE,
    ),
    PatchSpec(
        "pyspark.sql.conf:RuntimeConfig",
        "set",
        "session",
        "settings take the platform's words, such as auto",
        _set,
    ),
    PatchSpec(
        "pyspark.sql.observation:Observation",
        "_on",
        "session",
        "an execution of CREATE TABLE AS SELECT without metrics does not complete it",
        _on,
    ),
    PatchSpec(
        "pyspark.sql.classic.dataframe:DataFrame",
        "explain",
        "session",
        "plans have the names of tables, not those of Spark's session catalog",
        _explain,
    ),
    PatchSpec(
        "pyspark.sql.functions.builtin",
        "_get_jvm_function",
        "session",
        "functions take columns where Spark Classic takes plain values; from_json takes no schema",
        _get_jvm_function,
    ),
    PatchSpec(
        "pyspark.sql.udf",
        "_wrap_function",
        "session",
        "streams of one data source that start at the same time change its environment variables",
        _wrap_function,
    ),
    PatchSpec(
        "pyspark.core.context:SparkContext",
        "addArchive",
        "session",
        "an archive that does not exist does not break later jobs",
        _add_archive,
    ),
    PatchSpec(
        "pyspark.sql.readwriter:DataFrameWriter",
        "saveAsTable",
        "session",
        "rows of another format are not appended to a table",
        _save_as_table,
    ),
)
