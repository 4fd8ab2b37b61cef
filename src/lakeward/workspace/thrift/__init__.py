"""HiveServer2's Thrift protocol, which `databricks-sql-connector` and dbt use with a SQL warehouse."""
