"""The relations of information_schema with their columns, as the platform documents them.

`jvm/InformationSchema.java` serves them: its scan computes the rows of schemata, tables, views and columns,
and calls Python for the others. Objects that a filter on catalog, schema or table excludes are not read.
"""

from __future__ import annotations

_CHANGES = "created:TIMESTAMP created_by last_altered:TIMESTAMP last_altered_by"
_TABLE = "table_catalog table_schema table_name"
_CONSTRAINT = "constraint_catalog constraint_schema constraint_name"
_SPECIFIC = "specific_catalog specific_schema specific_name"
_ROUTINE = "routine_catalog routine_schema routine_name"
_RIGHT = "privilege_type is_grantable inherited_from"
_MEASURES = (
    "numeric_precision:INT numeric_precision_radix:INT numeric_scale:INT datetime_precision:INT "
    "interval_type interval_precision:INT"
)
_TYPE = (
    "data_type full_data_type character_maximum_length:INT character_octet_length "
    f"{_MEASURES} maximum_cardinality:INT"
)
_COLUMN = (
    "column_name ordinal_position:INT column_default is_nullable full_data_type data_type "
    f"character_maximum_length:BIGINT character_octet_length:BIGINT {_MEASURES} maximum_cardinality:BIGINT "
    "is_identity identity_generation identity_start identity_increment identity_maximum identity_minimum "
    "identity_cycle is_generated generation_expression is_system_time_period_start "
    "is_system_time_period_end system_time_period_timestamp_generation is_updatable "
    "partition_ordinal_position:INT comment"
)
_BODY = (
    "routine_body routine_definition external_name external_language parameter_style is_deterministic "
    "sql_data_access is_null_call sql_path security_type as_locator routine_owner comment"
)

# Column names with types; the default is STRING.
_COLUMNS = {
    "catalog_privileges": f"grantor grantee catalog_name {_RIGHT}",
    "catalog_tags": "catalog_name tag_name tag_value",
    "catalogs": f"catalog_name catalog_owner comment {_CHANGES}",
    "check_constraints": f"{_CONSTRAINT} check_clause sql_path",
    # Documented with `catalog_name`; clients, such as dbt, use `table_catalog` and `using_columns`.
    "column_masks": (
        "catalog_name schema_name table_name column_name mask_catalog mask_schema mask_name mask_col_usage "
        "table_catalog table_schema using_columns"
    ),
    "column_tags": "catalog_name schema_name table_name column_name tag_name tag_value",
    "columns": f"{_TABLE} {_COLUMN}",
    "constraint_column_usage": f"{_TABLE} column_name {_CONSTRAINT}",
    "constraint_table_usage": f"{_TABLE} {_CONSTRAINT}",
    "information_schema_catalog_name": "catalog_name",
    "key_column_usage": (
        f"{_CONSTRAINT} {_TABLE} column_name ordinal_position:INT position_in_unique_constraint:INT"
    ),
    "parameters": (
        f"{_SPECIFIC} ordinal_position:INT parameter_mode is_result as_locator parameter_name {_TYPE} "
        "parameter_default comment"
    ),
    "referential_constraints": (
        f"{_CONSTRAINT} unique_constraint_catalog unique_constraint_schema unique_constraint_name "
        "match_option update_rule delete_rule"
    ),
    "routine_columns": f"{_SPECIFIC} column_name ordinal_position:INT {_TYPE} comment",
    "routine_privileges": f"grantor grantee {_SPECIFIC} {_ROUTINE} {_RIGHT}",
    "routines": f"{_SPECIFIC} {_ROUTINE} routine_type {_TYPE} {_BODY} {_CHANGES}",
    "row_filters": (
        "catalog_name schema_name table_name filter_catalog filter_schema filter_name filter_col_usage "
        "table_catalog table_schema target_columns"
    ),
    "schema_privileges": f"grantor grantee catalog_name schema_name {_RIGHT}",
    "schema_tags": "catalog_name schema_name tag_name tag_value",
    "schemata": f"catalog_name schema_name schema_owner comment {_CHANGES}",
    "table_constraints": (
        f"{_CONSTRAINT} {_TABLE} constraint_type is_deferrable initially_deferred enforced comment"
    ),
    "table_privileges": f"grantor grantee {_TABLE} {_RIGHT}",
    "table_tags": "catalog_name schema_name table_name tag_name tag_value",
    "tables": (
        f"{_TABLE} table_type is_insertable_into commit_action table_owner comment {_CHANGES} "
        "data_source_format storage_path storage_sub_directory"
    ),
    "views": (
        f"{_TABLE} view_definition check_option is_updatable is_insertable_into sql_path is_materialized"
    ),
    "volume_privileges": f"grantor grantee volume_catalog volume_schema volume_name {_RIGHT}",
    "volume_tags": "catalog_name schema_name volume_name tag_name tag_value",
    "volumes": (
        "volume_catalog volume_schema volume_name volume_type volume_owner comment storage_location "
        f"{_CHANGES}"
    ),
}


def _ddl(columns: str) -> str:
    """Return the columns as DDL.

    >>> _ddl("a b:INT")
    'a STRING, b INT'
    """
    parts = (column.partition(":") for column in columns.split())
    return ", ".join(f"{name} {kind or 'STRING'}" for name, _, kind in parts)


INFORMATION_SCHEMA = {name: _ddl(columns) for name, columns in _COLUMNS.items()}
"""The columns of each relation, as DDL."""

INFORMATION_SCHEMA_NAME = "information_schema"

# `jvm/InformationSchema.java` gets them with the columns.
INFORMATION_SCHEMA_ABOUT = {
    "owner": "System user",
    "comment": "Information schema (auto-created)",
    "catalogs_without": ["hive_metastore"],
}
"""Owner and comment of the schema of every catalog, and the catalogs that have none."""


def is_information_schema(catalog: str, schema: str) -> bool:
    """Return whether this is the information schema of a catalog that has one."""
    without = INFORMATION_SCHEMA_ABOUT["catalogs_without"]
    return schema.lower() == INFORMATION_SCHEMA_NAME and catalog.lower() not in without


# Columns with the names of the objects that are read for a row.
_SELECTING = {
    "catalogs": (
        *("table_catalog", "catalog_name", "constraint_catalog", "specific_catalog", "routine_catalog"),
        "volume_catalog",
    ),
    "schemas": (
        *("table_schema", "schema_name", "constraint_schema", "specific_schema", "routine_schema"),
        "volume_schema",
    ),
    "tables": ("table_name",),
}
# There, the table is the one that a key references.
_OF_REFERENCED_TABLES = ("constraint_column_usage", "constraint_table_usage")


def _selecting_columns() -> dict[str, str]:
    kinds = {column: kind for kind, columns in _SELECTING.items() for column in columns}
    found = {}
    for relation, columns in _COLUMNS.items():
        for column in (each.partition(":")[0] for each in columns.split()):
            is_referenced = relation in _OF_REFERENCED_TABLES and column.startswith("table_")
            if column in kinds and not is_referenced:
                found[f"{relation}.{column}"] = kinds[column]
    return found


SELECTING_COLUMNS = _selecting_columns()
"""What a filter on `relation.column` selects of the objects that are read: catalogs, schemas or tables."""
