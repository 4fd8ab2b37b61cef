from databricks.sdk.runtime import spark


def find_all_taxis():
    return spark.read.table("samples.nyctaxi.trips")
