"""File discovery: globs, listings, file names as users see them, and Hive partitions."""

from lakeward.autoloader.discovery.file_listing import (
    FileLister,
    FileNames,
    FileStatus,
    Globber,
    literal_root,
    parse_partition_values,
    path_not_found,
    session_file_names,
)
from lakeward.autoloader.discovery.storage import Storage, open_storage

__all__ = [
    "FileLister",
    "FileNames",
    "FileStatus",
    "Globber",
    "Storage",
    "literal_root",
    "open_storage",
    "parse_partition_values",
    "path_not_found",
    "session_file_names",
]
