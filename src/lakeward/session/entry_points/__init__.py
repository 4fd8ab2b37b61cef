"""Entry points of user code: builders, contexts, Databricks Connect, columns before a session."""
