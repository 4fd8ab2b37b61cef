"""Files → Arrow record batches, one reader a format; runs in Spark's Python workers."""

from lakeward.autoloader.readers.read import read

__all__ = ["read"]
