import importlib
import sys
from unittest import mock


def orders(spark):
    rows = [(1, 2.5), (2, 4.0)]
    spark.createDataFrame(rows, "id int, price double").createOrReplaceTempView("orders_raw")


def test_a_dataset_function_gives_its_frame(spark):
    from retailer import pipeline

    orders(spark)
    assert [row.id for row in pipeline.cheap_orders().collect()] == [1]


def test_a_mock_in_place_of_dlt_stays(spark, monkeypatch):
    dlt = mock.MagicMock()
    dlt.table = dlt.expect_or_drop = lambda *_, **__: lambda function: function
    monkeypatch.setitem(sys.modules, "dlt", dlt)
    monkeypatch.delitem(sys.modules, "retailer.pipeline", raising=False)
    pipeline = importlib.import_module("retailer.pipeline")
    orders(spark)
    assert pipeline.dlt is dlt
    assert pipeline.cheap_orders().count() == 1


def test_the_mock_has_left_nothing_behind(spark):
    sys.modules.pop("retailer.pipeline", None)
    import dlt

    assert not isinstance(dlt, mock.MagicMock)
