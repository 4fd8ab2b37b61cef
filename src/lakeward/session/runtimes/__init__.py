"""Runtime profiles: Databricks Runtime releases and serverless compute."""
