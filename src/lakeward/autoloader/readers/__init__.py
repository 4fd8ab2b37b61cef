"""File readers: one per format, from files to Arrow record batches. They run in Spark's Python workers."""
