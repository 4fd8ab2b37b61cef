"""A job with a dbt task in the local workspace: tables, Python models, log and artifacts of the run."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.trees import write_files
from tests.workspace.server import Server

pytestmark = [pytest.mark.process, pytest.mark.slow]

STATEMENTS = "/api/2.0/sql/statements"
WAREHOUSE = "1a6e3a4d00000001"
VERSIONS = ("1.10", "1.11")
PROJECT = {
    "dbt_project.yml": """
name: shop
version: '1.0'
profile: shop
models: {shop: {+persist_docs: {relation: true, columns: true}}}
""",
    "profiles/profiles.yml": """
shop:
  target: dev
  outputs:
    dev:
      type: databricks
      catalog: main
      schema: "{{ var('dev_schema') }}"
      http_path: /sql/1.0/warehouses/0123456789abcdef
      host: "{{ env_var('DBT_HOST') }}"
      token: "{{ env_var('DBT_ACCESS_TOKEN') }}"
      threads: 4
""",
    "seeds/raw_orders.csv": "id,customer,day,amount\n1,ann,2024-01-01,10\n2,bob,2024-01-02,20\n",
    "models/stg_orders.sql": "select id as order_id, customer, day, amount from {{ ref('raw_orders') }}",
    "models/orders.sql": """
{{ config(materialized='incremental', unique_key='order_id', incremental_strategy='merge') }}
select * from {{ ref('stg_orders') }}
{% if is_incremental() %} where day >= (select max(day) from {{ this }}) {% endif %}
""",
    "models/customers.sql": """
{{ config(materialized='table', liquid_clustered_by=['customer'], tblproperties={'a': 'b'}) }}
select customer, sum(amount) as amount from {{ ref('orders') }} group by customer
""",
    "models/large.py": """
def model(dbt, session):
    dbt.config(materialized="table", submission_method="serverless_cluster")
    return dbt.ref("orders").filter("amount > 10")
""",
    "models/schema.yml": """
version: 2
models:
  - name: orders
    description: One row an order
    columns: [{name: order_id, description: "the order's id", data_tests: [unique, not_null]}]
""",
    "snapshots/orders_snapshot.sql": """
{% snapshot orders_snapshot %}
{{ config(target_schema=target.schema, unique_key='order_id', strategy='check', check_cols=['amount']) }}
select * from {{ ref('orders') }}
{% endsnapshot %}
""",
}


def rows(server: Server, statement: str) -> list[list[str]]:
    body = {"statement": statement, "warehouse_id": WAREHOUSE, "wait_timeout": "50s"}
    found = server.post(STATEMENTS, body)
    assert found["status"]["state"] == "SUCCEEDED", found
    return found["result"]["data_array"]  # type: ignore[no-any-return]


def run(server: Server, version: str, **settings: Any) -> Any:
    """Run a job with one dbt task to its end; skips the test where dbt cannot be installed."""
    folder = server.state / "workspace" / "Shared" / "shop"
    shutil.rmtree(folder, ignore_errors=True)
    write_files(folder, PROJECT)
    spec = {
        "environment_version": "3",
        "dependencies": [f"dbt-databricks=={version}.*", f"dbt-core=={version}.*"],
    }
    task = {
        "task_key": "shop",
        "environment_key": "default",
        "dbt_task": {"project_directory": "/Workspace/Shared/shop", **settings},
    }
    job = {"name": "shop", "tasks": [task], "environments": [{"environment_key": "default", "spec": spec}]}
    job_id = server.post("/api/2.2/jobs/create", job)["job_id"]
    ended = server.ended(server.run_now(job_id), seconds=570)
    output = server.get("/api/2.2/jobs/runs/get-output", run_id=ended["tasks"][0]["run_id"])
    if "INDEX_NOT_REACHABLE" in json.dumps(output):
        pytest.skip("the package index cannot be reached")
    return output


@pytest.mark.parametrize("version", VERSIONS)
def test_build_with_the_profile_of_the_project(server: Server, version: str) -> None:
    schema = f"built_{version.replace('.', '_')}"
    build = f"dbt build --vars '{{ dev_schema: {schema} }}'"
    output = run(server, version, profiles_directory="profiles", commands=["dbt deps", build, build])
    assert output["metadata"]["state"]["result_state"] == "SUCCESS", output["logs"]
    assert output["logs"].count("Completed successfully") == 2
    assert rows(server, f"SELECT customer, amount FROM main.{schema}.customers ORDER BY 1") == [
        ["ann", "10"],
        ["bob", "20"],
    ]
    assert rows(server, f"SELECT order_id FROM main.{schema}.large") == [["2"]]
    assert rows(server, f"SELECT count(*) FROM main.{schema}.orders_snapshot WHERE dbt_valid_to IS NULL") == [
        ["2"]
    ]
    comments = "SELECT column_name, comment FROM main.information_schema.columns"
    assert ["order_id", "the order's id"] in rows(
        server, f"{comments} WHERE table_name = 'orders' AND table_schema = '{schema}'"
    )
    link = output["dbt_output"]["artifacts_link"]
    with tarfile.open(fileobj=io.BytesIO(requests.get(link, timeout=30).content)) as archive:
        assert {"target/manifest.json", "target/run_results.json"} <= set(archive.getnames())
    assert requests.get(link.replace("signature=", "signature=0"), timeout=30).status_code == 403


@pytest.mark.parametrize("version", VERSIONS)
def test_the_generated_profile_and_a_command_that_fails(server: Server, version: str) -> None:
    schema = f"generated_{version.replace('.', '_')}"
    commands = ["dbt seed", "dbt run --select stg_orders", "dbt run-operation nothing", "dbt ls"]
    output = run(server, version, warehouse_id=WAREHOUSE, catalog="main", schema=schema, commands=commands)
    assert output["metadata"]["state"]["result_state"] == "FAILED"
    assert output["error"].startswith("[DBT_COMMAND_FAILED] The command `dbt run-operation nothing` failed")
    assert "+ dbt ls" not in output["logs"]
    assert server.token not in output["logs"]
    assert rows(server, f"SELECT count(*) FROM main.{schema}.stg_orders") == [["2"]]
    assert not (Path(server.state) / "workspace/Shared/shop/target").exists()
