"""How code gets at its session and its dbutils wherever it runs."""

import os

from pyspark.sql import SparkSession


def get_spark():
    try:
        from databricks.connect import DatabricksSession

        return DatabricksSession.builder.getOrCreate()
    except ImportError:
        return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def get_dbutils(spark):
    try:
        from pyspark.dbutils import DBUtils

        return DBUtils(spark)
    except ImportError:
        import IPython

        return IPython.get_ipython().user_ns["dbutils"]


def on_databricks():
    return "DATABRICKS_RUNTIME_VERSION" in os.environ


def notebook_path(dbutils):
    context = dbutils.notebook.entry_point.getDbutils().notebook().getContext()
    return context.notebookPath().get()


def cluster(spark):
    return spark.conf.get("spark.databricks.clusterUsageTags.clusterName")
