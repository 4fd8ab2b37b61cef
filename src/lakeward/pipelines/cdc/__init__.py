"""AUTO CDC: change feeds applied to streaming tables by the highest sequence, whatever the order (spec §3).

Every event of a feed is kept in a side table as something that can be united in any order: the greatest
sequences of a key (type 1), or the events themselves (type 2). What the target must look like is a pure
function of that union, so late events, replays and batches of any size give the same rows.
"""

from lakeward.pipelines.cdc.apply import Feed, apply_changes_once, apply_changes_stream
from lakeward.pipelines.cdc.change import Change, change_of
from lakeward.pipelines.cdc.shape import Shape
from lakeward.pipelines.cdc.state import State
from lakeward.pipelines.cdc.target import Target

__all__ = [
    "Change",
    "Feed",
    "Shape",
    "State",
    "Target",
    "apply_changes_once",
    "apply_changes_stream",
    "change_of",
]
