"""Functions of the Databricks SQL reference that neither Spark nor this runtime has, and why.

What Spark has is Spark's to list (`SHOW FUNCTIONS`); what is added or refused by name stands in the
table of constructs. A test holds both against a running session.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ADDED", "MISSING", "Missing"]

# By name, for SHOW FUNCTIONS: an alias of one of Spark's, or served by this runtime.
ADDED = {
    "charindex": "locate",
    "getdate": "now",
    "iff": "if",
    "is_account_group_member": "",
    "is_member": "",
    "secret": "",
    "try_secret": "",
    "cloud_files": "",
    "cloud_files_state": "",
    "event_log": "",
    "read_files": "",
}


@dataclass(frozen=True)
class Missing:
    """Functions that are missing for the same reason."""

    reason: str
    names: tuple[str, ...]


MISSING = (
    Missing(
        "they ask a model or an index that the platform serves; one that the project registers stands in",
        (
            "ai_analyze_sentiment",
            "ai_classify",
            "ai_extract",
            "ai_fix_grammar",
            "ai_forecast",
            "ai_gen",
            "ai_mask",
            "ai_parse_document",
            "ai_query",
            "ai_similarity",
            "ai_summarize",
            "ai_translate",
            "vector_search",
        ),
    ),
    Missing(
        "H3 cells need a library that Spark does not bring",
        (
            "h3_boundaryasgeojson",
            "h3_boundaryaswkb",
            "h3_boundaryaswkt",
            "h3_centerasgeojson",
            "h3_centeraswkb",
            "h3_centeraswkt",
            "h3_compact",
            "h3_coverash3",
            "h3_coverash3string",
            "h3_distance",
            "h3_h3tostring",
            "h3_hexring",
            "h3_ischildof",
            "h3_ispentagon",
            "h3_isvalid",
            "h3_kring",
            "h3_kringdistances",
            "h3_longlatash3",
            "h3_longlatash3string",
            "h3_maxchild",
            "h3_minchild",
            "h3_pointash3",
            "h3_pointash3string",
            "h3_polyfillash3",
            "h3_polyfillash3string",
            "h3_resolution",
            "h3_stringtoh3",
            "h3_tessellateaswkb",
            "h3_tochildren",
            "h3_toparent",
            "h3_uncompact",
            "h3_validate",
        ),
    ),
    Missing(
        "they read from a service of their own",
        ("http_request", "read_kafka", "read_kinesis", "read_pubsub", "read_pulsar", "remote_query"),
    ),
    Missing(
        "they tell of an account, which one machine has not",
        ("current_metastore", "current_recipient", "current_version", "list_secrets"),
    ),
)
