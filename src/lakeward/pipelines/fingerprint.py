"""What a materialized view depends on, as one hash: equal hashes, equal contents.

It stands in the metadata of the commit that wrote the view, and counts only while that commit is the
table's latest. So it can be neither newer nor older than the data, whatever was killed when.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.elements import Dataset
from lakeward.pipelines.plans import class_name, leaves, text_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["code_hash", "fingerprint", "metadata", "read_back"]

_KEY = "lakeward.fingerprint"
# Analyzed expressions whose value is another one at the next run although Spark calls them deterministic.
_PER_RUN = re.compile(
    r"\b(now|current_timestamp|current_date|curdate|current_time|localtimestamp|unix_timestamp\(current_timestamp|"
    r"current_user|session_user|input_file_name|version)\(|current_timestamp|current_date|localtimestamp",
    re.IGNORECASE,
)
_NO_DATA = ("OneRowRelation", "Range", "CTERelationRef")
_TEMPORAL_SETTINGS = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone", "spark.sql.caseSensitive")


def fingerprint(df: DataFrame, dataset: Dataset, *, code: str, conf: Mapping[str, str]) -> str | None:
    """The hash for a view's query, None when the result may differ although nothing changed.

    Sources that are no Delta tables (files, Python data) make it None: the view is then always rewritten.
    """
    analyzed: Any = df._jdf.queryExecution().analyzed()
    text = text_of(df)
    if not analyzed.deterministic() or _PER_RUN.search(text):
        return None
    versions = []
    for leaf in leaves(df):
        version = _version(leaf)
        if version is None:
            return None
        versions.append(version)
    options = dataset.options
    parts = [
        text,
        versions,
        [[rule.name, rule.constraint, rule.action] for rule in dataset.rules],
        [
            options.comment,
            dict(options.properties),
            options.partition_cols,
            options.cluster_by,
            str(options.schema),
            options.row_filter,
        ],
        df.schema.json(),
        code,
        dict(conf),
        {key: df.sparkSession.conf.get(key, None) for key in _TEMPORAL_SETTINGS},
        df.sparkSession.version,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _version(leaf: Any) -> str | None:
    name = class_name(leaf)
    if name in _NO_DATA:
        return name
    if name == "LocalRelation":
        return str(leaf.data().mkString("\n"))
    if name == "LogicalRelation":
        index = _file_index(leaf.relation())
        if index is not None and class_name(index) == "TahoeLogFileIndex":
            # The write may see a later version than this one: then the next update rewrites once too often.
            snapshot = index.getSnapshot()
            return f"{snapshot.metadata().id()}@{snapshot.version()}"
    return None


def _file_index(relation: Any) -> Any:
    """The list of files behind a relation, None for relations that are no files."""
    from py4j.protocol import Py4JError

    try:
        return relation.location()
    except Py4JError:
        return None


def code_hash(files: Iterable[Path]) -> str:
    """One hash over the user's files; a change in any of them may change what a query means."""
    whole = hashlib.sha256()
    for file in sorted(set(files)):
        try:
            whole.update(str(file).encode() + b"\0" + file.read_bytes() + b"\0")
        except OSError:
            continue
    return whole.hexdigest()


def metadata(hashed: str | None, update_id: str) -> str:
    """The text for the commit's user metadata."""
    return json.dumps({_KEY: hashed, "lakeward.update": update_id})


def read_back(text: str | None) -> str | None:
    """The hash in a commit's user metadata, None where there is none."""
    try:
        found = json.loads(text or "{}").get(_KEY)
    except (ValueError, AttributeError):
        return None
    return found if isinstance(found, str) else None
