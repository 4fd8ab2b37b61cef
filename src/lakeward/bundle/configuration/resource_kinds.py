"""The kinds of resources of a bundle: what a local deployment creates, and what references can name.

Source: https://docs.databricks.com/aws/en/dev-tools/bundles/resources and, for the fields that exist only
after a deployment, the responses in https://docs.databricks.com/api/workspace.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ResourceKind:
    """One kind of resource.

    `deployed`: `lakeward bundle deploy` creates it. `full_name` are the settings whose values, joined by
    dots, are the resource's id; without them the id is assigned by the workspace. `identifiers` are further
    fields that hold the id, `computed` the other fields that only a workspace fills in.
    """

    name: str
    title: str
    deployed: bool = False
    full_name: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()


_IN_SCHEMA = ("catalog_name", "schema_name", "name")

RESOURCE_KINDS: dict[str, ResourceKind] = {
    kind.name: kind
    for kind in (
        ResourceKind("jobs", "Jobs", True, (), ("job_id",), ("url", "creator_user_name", "run_as_user_name")),
        ResourceKind(
            *("pipelines", "Pipelines", True, (), ("pipeline_id",)),
            ("url", "creator_user_name", "run_as_user_name", "state"),
        ),
        ResourceKind(
            *("catalogs", "Catalogs", True, ("name",), ("full_name",)),
            ("url", "owner", "metastore_id", "storage_location"),
        ),
        ResourceKind(
            *("schemas", "Schemas", True, ("catalog_name", "name"), ("full_name",)),
            ("url", "schema_id", "owner", "metastore_id", "storage_location"),
        ),
        ResourceKind(
            *("volumes", "Volumes", True, _IN_SCHEMA, ("full_name",)),
            ("url", "volume_id", "owner", "metastore_id", "storage_location"),
        ),
        ResourceKind("secret_scopes", "Secret scopes", True, ("name",), (), ("backend_type",)),
        ResourceKind(
            *("alerts", "Alerts", True, (), ()), ("url", "owner_user_name", "create_time", "update_time")
        ),
        ResourceKind(
            *("apps", "Apps", False, (), ()),
            (
                *("url", "service_principal_client_id", "service_principal_id", "service_principal_name"),
                *("oauth2_app_client_id", "default_source_code_path", "creator"),
            ),
        ),
        ResourceKind("cluster_policies", "Cluster policies", identifiers=("policy_id",)),
        ResourceKind(
            *("clusters", "Clusters", False, (), ("cluster_id",)),
            ("url", "state", "creator_user_name", "spark_context_id"),
        ),
        ResourceKind(
            *("dashboards", "Dashboards", True, (), ("dashboard_id",)),
            ("url", "path", "etag", "lifecycle_state", "create_time", "update_time"),
        ),
        ResourceKind("database_catalogs", "Database catalogs", full_name=("name",), computed=("url", "uid")),
        ResourceKind(
            *("database_instances", "Database instances", False, ("name",), ()),
            ("url", "uid", "read_write_dns", "read_only_dns", "state", "pg_version", "creator"),
        ),
        ResourceKind(
            *("experiments", "Experiments", False, (), ("experiment_id",)),
            ("url", "lifecycle_stage", "artifact_location"),
        ),
        ResourceKind(
            *("external_locations", "External locations", False, ("name",), ()),
            ("owner", "metastore_id", "credential_id"),
        ),
        ResourceKind("features", "Features", full_name=("full_name",)),
        ResourceKind("genie_spaces", "Genie spaces", identifiers=("space_id",), computed=("url", "etag")),
        ResourceKind(
            "instance_pools", "Instance pools", identifiers=("instance_pool_id",), computed=("url", "state")
        ),
        ResourceKind(
            "job_runs", "Job runs", identifiers=("run_id",), computed=("url", "run_page_url", "run_name")
        ),
        ResourceKind("mcp_services", "MCP services"),
        ResourceKind("model_provider_services", "Model provider services"),
        ResourceKind("model_services", "Model services"),
        ResourceKind(
            *("model_serving_endpoints", "Model serving endpoints", False, ("name",), ()),
            ("url", "endpoint_id", "serving_endpoint_id", "endpoint_url"),
        ),
        ResourceKind("models", "Models", full_name=("name",), computed=("url", "model_id", "user_id")),
        ResourceKind("postgres_branches", "Postgres branches", computed=("url", "name", "uid")),
        ResourceKind("postgres_catalogs", "Postgres catalogs", computed=("url", "name", "uid")),
        ResourceKind("postgres_databases", "Postgres databases", computed=("url", "name")),
        ResourceKind("postgres_endpoints", "Postgres endpoints", computed=("url", "name", "uid")),
        ResourceKind("postgres_projects", "Postgres projects", computed=("url", "name", "uid")),
        ResourceKind("postgres_roles", "Postgres roles", computed=("url", "name")),
        ResourceKind("postgres_synced_tables", "Postgres synced tables", computed=("url", "name", "uid")),
        ResourceKind(
            *("quality_monitors", "Quality monitors", False, ("table_name",), ()),
            (
                *("url", "dashboard_id", "status", "monitor_version"),
                *("drift_metrics_table_name", "profile_metrics_table_name"),
            ),
        ),
        ResourceKind(
            *("registered_models", "Registered models", False, _IN_SCHEMA, ("full_name",)),
            ("url", "owner", "metastore_id", "storage_location"),
        ),
        ResourceKind("secrets", "Secrets", full_name=_IN_SCHEMA, identifiers=("full_name",)),
        ResourceKind(
            *("sql_warehouses", "SQL warehouses", False, (), ()),
            ("url", "jdbc_url", "state", "num_clusters", "creator_name"),
        ),
        ResourceKind("synced_database_tables", "Synced database tables", full_name=("name",)),
        ResourceKind(
            *("vector_search_endpoints", "Vector search endpoints", False, ("name",), ()),
            ("url", "endpoint_uuid", "creator", "num_indexes"),
        ),
        ResourceKind(
            *("vector_search_indexes", "Vector search indexes", False, ("name",), ()),
            ("url", "endpoint_id", "creator"),
        ),
    )
}
"""By their key below `resources`."""
