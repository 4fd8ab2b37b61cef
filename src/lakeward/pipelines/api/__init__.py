"""The functions of `pyspark.pipelines` and `dlt`, which declare datasets and flows."""
