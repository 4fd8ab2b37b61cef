"""AUTO CDC: change feeds applied to streaming tables by the highest sequence, whatever the order (spec §3).

Every event of a feed is kept in a side table as something that can be united in any order: the greatest
sequences of a key (type 1), or the events themselves (type 2). What the target must look like is a pure
function of that union, so late events, replays and batches of any size give the same rows. A target of
type 1 that has the sequence among its columns is itself the greater part of that table (`carried`).
"""

from lakeward.pipelines.cdc.apply import TOMBSTONES_KEPT, Feed, apply_changes_once, apply_changes_stream
from lakeward.pipelines.cdc.change import Change, change_of
from lakeward.pipelines.cdc.shape import Shape
from lakeward.pipelines.cdc.snapshots import (
    GONE,
    VERSION,
    Snapshot,
    Snapshots,
    aligned,
    as_feed,
    difference,
    require_unique,
)
from lakeward.pipelines.cdc.state import State
from lakeward.pipelines.cdc.target import Target
from lakeward.pipelines.cdc.versions import check_version, refused

__all__ = [
    "GONE",
    "TOMBSTONES_KEPT",
    "VERSION",
    "Change",
    "Feed",
    "Shape",
    "Snapshot",
    "Snapshots",
    "State",
    "Target",
    "aligned",
    "apply_changes_once",
    "apply_changes_stream",
    "as_feed",
    "change_of",
    "check_version",
    "difference",
    "refused",
    "require_unique",
]
