"""Comments, owners and grants are the same in SQL and for clients, whichever has written them.

Kinds of objects × SQL or client as the writer; each is read by SQL, by the client of a run and by the server.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.processes import SharedDaemon, environ_without, outcome
from tests.workspace.server import running

pytestmark = [pytest.mark.process, pytest.mark.spark]

NOTEBOOK = """\
# Databricks notebook source
from databricks.sdk import WorkspaceClient
from databricks.sdk.service.catalog import PermissionsChange, Privilege, VolumeType

w = WorkspaceClient()
spark.sql("CREATE CATALOG IF NOT EXISTS shop")
spark.sql("CREATE SCHEMA shop.sales COMMENT 'at first' WITH DBPROPERTIES (a = 'b')")
spark.sql("CREATE TABLE shop.sales.orders (id INT)")
spark.sql("CREATE VOLUME shop.sales.files")
OBJECTS = {"catalog": "shop", "schema": "shop.sales"}
OBJECTS |= {"table": "shop.sales.orders", "volume": "shop.sales.files"}
PRIVILEGES = {"catalog": "USE_CATALOG", "schema": "USE_SCHEMA", "table": "SELECT", "volume": "READ_VOLUME"}

# COMMAND ----------
READERS = {
    "catalog": w.catalogs.get, "schema": w.schemas.get, "table": w.tables.get, "volume": w.volumes.read,
}

def sql_grants(kind):
    rows = spark.sql(f"SHOW GRANTS ON {kind} {OBJECTS[kind]}").collect()
    return {(row[0], row[1].replace(" ", "_")) for row in rows if row[2] == kind.upper()}

def client_grants(kind):
    found = w.grants.get(kind, OBJECTS[kind]).privilege_assignments or []
    return {(each.principal, privilege.value) for each in found for privilege in each.privileges}

for kind, name in OBJECTS.items():
    privilege = PRIVILEGES[kind]
    spark.sql(f"GRANT {privilege.replace('_', ' ')} ON {kind} {name} TO `by_sql`")
    change = PermissionsChange(principal="by_client", add=[Privilege(privilege)])
    w.grants.update(kind, name, changes=[change])
    assert sql_grants(kind) == client_grants(kind) == {("by_sql", privilege), ("by_client", privilege)}, kind
    spark.sql(f"REVOKE {privilege.replace('_', ' ')} ON {kind} {name} FROM `by_client`")
    change = PermissionsChange(principal="by_sql", remove=[Privilege(privilege)])
    w.grants.update(kind, name, changes=[change])
    assert sql_grants(kind) == client_grants(kind) == set(), kind

# COMMAND ----------
from databricks.sdk.service.catalog import EntityTagAssignment

TAGGED = {f"{kind}s": (kind, name) for kind, name in OBJECTS.items() if kind != "schema"}
TAGGED["schemas"] = ("schema", "shop.sales")
for entity, (kind, name) in TAGGED.items():
    spark.sql(f"ALTER {kind} {name} SET TAGS ('by_sql' = '1')")
    assignment = EntityTagAssignment(entity_type=entity, entity_name=name, tag_key="by_client", tag_value="2")
    w.entity_tag_assignments.create(assignment)
    held = {each.tag_key: each.tag_value for each in w.entity_tag_assignments.list(entity, name)}
    rows = spark.sql(f"SELECT tag_name, tag_value FROM shop.information_schema.{kind}_tags").collect()
    assert held == dict(map(tuple, rows)) == {"by_sql": "1", "by_client": "2"}, (entity, held, rows)
    spark.sql(f"ALTER {kind} {name} UNSET TAGS ('by_client')")
    w.entity_tag_assignments.delete(entity, name, "by_sql")
spark.sql("ALTER TABLE shop.sales.orders ALTER COLUMN ID SET TAGS ('by_sql' = '1')")
assert w.entity_tag_assignments.get("columns", "shop.sales.orders.id", "by_sql").tag_value == "1"

# COMMAND ----------
assert w.schemas.get("shop.sales").properties == {"a": "b"}
for kind, name in OBJECTS.items():
    if kind != "volume":
        spark.sql(f"ALTER {kind} {name} SET OWNER TO `ada`")
        assert READERS[kind](name).owner == "ada", kind
    spark.sql(f"COMMENT ON {kind} {name} IS 'by sql'")
    assert READERS[kind](name).comment == "by sql", kind
w.catalogs.update("shop", comment="by client", owner="bob")
w.schemas.update("shop.sales", comment="by client", owner="bob", properties={"c": "d"})
made = w.volumes.create("shop", "sales", "more", VolumeType.MANAGED, comment="by client")
described = spark.sql("DESCRIBE VOLUME shop.sales.more").first()
assert (made.comment, described.comment) == ("by client", "by client"), described
spark.sql("USE CATALOG shop")
shown = {
    "catalog": "SELECT comment, catalog_owner FROM information_schema.catalogs WHERE catalog_name = 'shop'",
    "schema": "SELECT comment, schema_owner FROM information_schema.schemata WHERE schema_name = 'sales'",
}
for kind, query in shown.items():
    assert [tuple(row) for row in spark.sql(query).collect()] == [("by client", "bob")], kind
described = {row[0]: row[1] for row in spark.sql("DESCRIBE SCHEMA EXTENDED sales").collect()}
assert "(c,d)" in described["Properties"], described

# COMMAND ----------
w.schemas.create("made", "shop", comment="from the start", properties={"e": "f"})
described = {row[0]: row[1] for row in spark.sql("DESCRIBE SCHEMA EXTENDED shop.made").collect()}
assert (described["Comment"], "(e,f)" in described["Properties"]) == ("from the start", True)
spark.sql("GRANT SELECT ON TABLE sales.orders TO `late`")
w.tables.delete("shop.sales.orders")
spark.sql("CREATE TABLE sales.orders (id INT)")
assert client_grants("table") == set(), "a new table of this name has no grants"
spark.sql("GRANT SELECT ON TABLE sales.orders TO `late`")
"""


def test_sql_and_clients_read_what_the_other_has_written(tmp_path: Path, shared_daemon: SharedDaemon) -> None:
    (tmp_path / "notebook.py").write_text(NOTEBOOK)
    environ = shared_daemon.environ(environ_without("LAKEWARD_", "PYTEST", "DATABRICKS_"))
    command = [sys.executable, "-m", "lakeward", "notebook", "notebook.py"]
    ran = outcome(command, cwd=tmp_path, env=environ, timeout=240)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    with running(tmp_path) as server:
        schema = server.get("/api/2.1/unity-catalog/schemas/shop.sales")
        assert (schema["comment"], schema["owner"], schema["properties"]) == ("by client", "bob", {"c": "d"})
        granted = server.get("/api/2.1/unity-catalog/permissions/table/shop.sales.orders")
        assert granted["privilege_assignments"] == [{"principal": "late", "privileges": ["SELECT"]}]
