from pyspark.sql import SparkSession


def test_a_session_that_was_stopped_is_made_again(spark):
    spark.stop()
    again = SparkSession.builder.master("local[1]").appName("again").getOrCreate()
    again.range(2).write.mode("overwrite").saveAsTable("after_the_stop")
    assert again.table("after_the_stop").count() == 2
    assert again.sparkContext.appName == "again"
