"""Constructs of Databricks SQL: one module per area with grammar, commands and their effects."""
