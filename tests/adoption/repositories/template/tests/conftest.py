"""A session of Databricks Connect before anything else, on serverless compute where nothing else is named."""

import json
import os
import pathlib

import pytest
from databricks.connect import DatabricksSession
from databricks.sdk import WorkspaceClient


@pytest.fixture
def spark():
    return DatabricksSession.builder.getOrCreate()


@pytest.fixture
def load_fixture(spark):
    def load(name):
        path = pathlib.Path(__file__).parent.parent / "fixtures" / name
        return spark.createDataFrame(json.loads(path.read_text()))

    return load


def choose_compute():
    config = WorkspaceClient().config
    if not (config.serverless_compute_id or config.cluster_id or os.environ.get("SPARK_REMOTE")):
        os.environ["DATABRICKS_SERVERLESS_COMPUTE_ID"] = "auto"


def pytest_configure():
    choose_compute()
    builder = DatabricksSession.builder
    if hasattr(builder, "validateSession"):
        builder = builder.validateSession()
    builder.getOrCreate()
