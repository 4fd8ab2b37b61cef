"""Functions of the Databricks SQL reference that Spark lacks: those added here, and the missing ones.

A test compares both with a running session.
"""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.session import geospatial_functions

# Name -> the function of Spark's that it is an alias of; empty if lakeward implements it.
ADDED = {
    "charindex": "locate",
    "current_metastore": "",
    "current_version": "",
    "getdate": "now",
    "iff": "if",
    "is_account_group_member": "",
    "is_member": "",
    "schema_of_json_agg": "",
    "secret": "",
    "try_secret": "",
    **dict.fromkeys(("try_zstd_decompress", "zstd_compress", "zstd_decompress"), ""),
    "cloud_files": "",
    "cloud_files_state": "",
    "event_log": "",
    **dict.fromkeys(("list_secrets", "read_kafka", "read_state_metadata", "read_statestore"), ""),
    "read_files": "",
    **dict.fromkeys((function.name for function in geospatial_functions()), ""),
}


@dataclass(frozen=True)
class Missing:
    """Functions that are missing for the same reason; `unsupported` ones fail with UNSUPPORTED_SQL."""

    reason: str
    names: tuple[str, ...]
    unsupported: bool = False


def _names(prefix: str, names: str) -> tuple[str, ...]:
    """Return the names of a family, sorted.

    >>> _names("ai_", "b a")
    ('ai_a', 'ai_b')
    """
    return tuple(sorted(f"{prefix}{name}" for name in names.split()))


_AI = (
    "analyze_sentiment classify decide detect_anomalies enrich extract fix_grammar forecast gen "
    "generate_text mask parse_document predict_class predict_value prep_search query search "
    "similarity summarize top_drivers transcribe translate"
)
MISSING = (
    Missing(
        "call a model that the platform serves; a function that the project registers replaces it",
        _names("ai_", _AI),
        unsupported=True,
    ),
    Missing("queries an index that the platform serves", ("vector_search",), unsupported=True),
    Missing(
        "no equivalent in Spark",
        ("bit_reverse", "current_oauth_custom_identity_claim", "stringdecode", "try_remainder"),
    ),
    Missing(
        "read from an external service",
        ("http_request", "read_kinesis", "read_pubsub", "read_pulsar", "remote_query"),
        unsupported=True,
    ),
    Missing(
        "describe an account, which a local lakehouse does not have",
        ("current_recipient",),
        unsupported=True,
    ),
)
