"""Fingerprint of a view's query and inputs: a view with the same one needs no refresh.

It is stored in the metadata of the commit that wrote the view and is valid only while that commit is the
table's latest. It can therefore be neither newer nor older than the data, even after a kill.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.graph.elements import Dataset
from lakeward.pipelines.graph.query_plans import class_name, plan_text, source_nodes
from lakeward.pipelines.incremental.seen_versions import RESULT_SETTINGS, view_declaration
from lakeward.spark_internals import JavaObject, analyzed_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KEY = "lakeward.fingerprint"
# Analyzed expressions whose value changes from run to run although Spark calls them deterministic.
_PER_RUN = re.compile(
    r"\b(now|current_timestamp|current_date|curdate|current_time|localtimestamp|unix_timestamp\(current_timestamp|"
    r"current_user|session_user|input_file_name|version)\(|current_timestamp|current_date|localtimestamp",
    re.IGNORECASE,
)
_NO_DATA = ("OneRowRelation", "Range", "CTERelationRef")


def query_fingerprint(df: DataFrame, dataset: Dataset, *, code: str, conf: Mapping[str, str]) -> str | None:
    """Return the fingerprint of a view's query, None if its result may change without a changed input.

    It is None for sources that are not Delta tables (files, Python data): such a view is always rewritten.
    """
    analyzed: Any = analyzed_plan(df)
    text = plan_text(df)
    if not analyzed.deterministic() or _PER_RUN.search(text):
        return None
    versions = []
    for leaf in source_nodes(df):
        version = _source_version(leaf)
        if version is None:
            return None
        versions.append(version)
    parts = [
        text,
        versions,
        view_declaration(dataset),
        df.schema.json(),
        code,
        dict(conf),
        {key: df.sparkSession.conf.get(key, None) for key in RESULT_SETTINGS},
        df.sparkSession.version,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _source_version(leaf: JavaObject) -> str | None:
    name = class_name(leaf)
    if name in _NO_DATA:
        return name
    if name == "LocalRelation":
        return str(leaf.data().mkString("\n"))
    if name == "LogicalRelation":
        index = _file_index(leaf.relation())
        if index is not None and class_name(index) == "TahoeLogFileIndex":
            # The write may see a later version than this one: then the next update rewrites unnecessarily.
            snapshot = index.getSnapshot()
            return f"{snapshot.metadata().id()}@{snapshot.version()}"
    return None


def _file_index(relation: JavaObject) -> JavaObject:
    """Return the file index of a relation, None for relations that do not read files."""
    from py4j.protocol import Py4JError

    try:
        return relation.location()
    except Py4JError:
        return None


def commit_metadata(hashed: str | None, update_id: str) -> str:
    """Return the user metadata of the commit."""
    return json.dumps({_KEY: hashed, "lakeward.update": update_id})


def fingerprint_in(text: str | None) -> str | None:
    """Return the fingerprint in a commit's user metadata, None if it has none."""
    try:
        found = json.loads(text or "{}").get(_KEY)
    except (ValueError, AttributeError):
        return None
    return found if isinstance(found, str) else None
