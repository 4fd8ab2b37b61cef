"""Which files there are: globs, listings, names as users see them, Hive partitions."""

from lakeward.autoloader.discovery.globs import Globber, literal_root
from lakeward.autoloader.discovery.hive import partition_values
from lakeward.autoloader.discovery.listing import FileStatus, Lister, missing_path
from lakeward.autoloader.discovery.names import Names
from lakeward.autoloader.discovery.selection import take
from lakeward.autoloader.discovery.storage import Storage, storage_of

__all__ = [
    "FileStatus",
    "Globber",
    "Lister",
    "Names",
    "Storage",
    "literal_root",
    "missing_path",
    "partition_values",
    "storage_of",
    "take",
]
