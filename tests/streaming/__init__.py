"""Structured Streaming as Databricks code writes it."""
