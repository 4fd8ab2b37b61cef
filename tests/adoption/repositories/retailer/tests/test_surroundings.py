import os

import pytest
from pyspark.errors import AnalysisException
from retailer import session


def test_a_job_that_imports_the_runtime(spark):
    from retailer import job

    assert job.load("retail.loaded") == "today"
    assert spark.table("retail.loaded").count() == 2


def test_dbutils_of_the_session(spark, tmp_path):
    dbutils = session.get_dbutils(spark)
    dbutils.fs.put(f"file:{tmp_path}/a.txt", "hello", True)
    assert (tmp_path / "a.txt").read_text() == "hello"
    assert [each.name for each in dbutils.fs.ls(f"file:{tmp_path}")] == ["a.txt"]


def test_the_context_of_a_notebook(spark):
    dbutils = session.get_dbutils(spark)
    assert session.notebook_path(dbutils)
    context = dbutils.notebook.entry_point.getDbutils().notebook().getContext()
    assert context.apiUrl().get().startswith("http")
    assert context.tags()


def test_the_tags_of_a_cluster(spark):
    assert session.cluster(spark)
    assert spark.conf.get("spark.databricks.workspaceUrl")


def test_tests_are_not_databricks():
    assert not session.on_databricks()
    assert "SPARK_HOME" not in os.environ or not os.environ["SPARK_HOME"].startswith("/databricks")


def test_a_table_of_the_workspace_comes_from_its_seed(spark):
    names = [row.name for row in spark.table("prod.crm.customers").orderBy("id").collect()]
    assert names == ["Ada", "Emmy"]


def test_a_table_without_a_producer_is_missing(spark):
    assert not spark.catalog.tableExists("prod.crm.invoices")
    with pytest.raises(AnalysisException) as found:
        spark.table("prod.crm.invoices")
    assert found.value.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"
    assert found.value.getSqlState() == "42P01"


def test_system_tables_are_empty(spark):
    assert spark.table("system.billing.usage").count() == 0
