"""The ways on which user code gets a session: builders, contexts, Databricks Connect, columns before any."""
