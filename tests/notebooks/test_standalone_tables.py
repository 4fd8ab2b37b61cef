"""Materialized views and their refreshes in cells of SQL."""

from __future__ import annotations

import pytest

from tests.notebooks.conftest import Desk, text_of

NOTEBOOK = """# Databricks notebook source
# MAGIC %sql
# MAGIC CREATE OR REPLACE TABLE SCHEMA.source AS SELECT 1 AS id;
# MAGIC CREATE MATERIALIZED VIEW SCHEMA.mv AS SELECT sum(id) AS total FROM SCHEMA.source;
# MAGIC INSERT INTO SCHEMA.source VALUES (41)

# COMMAND ----------

# MAGIC %sql
# MAGIC SELECT total AS before_refresh FROM SCHEMA.mv

# COMMAND ----------

# MAGIC %sql REFRESH MATERIALIZED VIEW SCHEMA.mv

# COMMAND ----------

# MAGIC %sql SELECT total AS after_refresh FROM SCHEMA.mv

# COMMAND ----------

# MAGIC %sql
# MAGIC DROP MATERIALIZED VIEW SCHEMA.mv;
# MAGIC DROP TABLE SCHEMA.source
"""


@pytest.mark.slow
def test_cells_create_refresh_and_drop_materialized_views(desk: Desk) -> None:
    finished = desk.done(desk.file("views.py", NOTEBOOK))
    texts = [text_of(finished, number) for number in range(1, 6)]
    assert any("before_refresh" in text and "1" in text.split("before_refresh")[1] for text in texts), texts
    assert any("after_refresh" in text and "42" in text.split("after_refresh")[1] for text in texts), texts
    assert not any("42" in text for text in texts if "before_refresh" in text)
