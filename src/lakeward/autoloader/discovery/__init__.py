"""File discovery: globs, listings, file names as users see them, and Hive partitions."""
