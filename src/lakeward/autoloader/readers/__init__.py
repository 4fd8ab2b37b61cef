"""File readers: one per format, from files to Arrow record batches. They run in Spark's Python workers."""

from lakeward.autoloader.readers.task_reader import read_task_files

__all__ = ["read_task_files"]
