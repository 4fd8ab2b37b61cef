"""Catalogs, schemas and tables that lakeward provides in a session."""
