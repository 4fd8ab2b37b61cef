"""Catalogs, schemas and tables of a session."""
