import pytest
from pyspark.errors import PySparkAttributeError
from template_project import taxis


def test_find_all_taxis():
    assert taxis.find_all_taxis().count() > 5


def test_a_fixtures_rows(load_fixture):
    assert load_fixture("ids.json").count() == 2


def test_serverless_compute_has_no_context(spark):
    with pytest.raises(PySparkAttributeError):
        _ = spark.sparkContext
