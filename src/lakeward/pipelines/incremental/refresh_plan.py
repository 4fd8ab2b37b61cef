"""The techniques of refreshing a view, the decision for one update, and what it depends on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lakeward.pipelines.incremental.issues import Issue

MaintenanceType = Literal[
    "NO_OP",
    "APPEND_ONLY",
    "ROW_BASED",
    "GROUP_AGGREGATE",
    "GENERIC_AGGREGATE",
    "WINDOW_FUNCTION",
    "PARTITION_OVERWRITE",
    "COMPLETE_RECOMPUTE",
]


@dataclass(frozen=True)
class Technique:
    """One way to refresh a view; `cost` is an estimate in bytes, None if it is not applicable."""

    type: MaintenanceType
    is_applicable: bool
    cost: float | None = None
    issues: tuple[Issue, ...] = ()


@dataclass
class RefreshPlan:
    """The technique that an update has chosen for a view, and the others that it considered."""

    chosen: MaintenanceType
    techniques: list[Technique] = field(default_factory=list)
    sources: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_incremental(self) -> bool:
        return self.chosen != "COMPLETE_RECOMPUTE"

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Return the reasons that prevented an incremental refresh."""
        return tuple(
            dict.fromkeys(issue for each in self.techniques for issue in each.issues if issue.prevents)
        )

    @property
    def reason(self) -> str:
        """Return the first reason for a complete recomputation, empty for an incremental refresh."""
        return "" if self.is_incremental or not self.issues else self.issues[0].text

    def choose(self, technique: Technique) -> None:
        """Refresh the view with this technique instead of the chosen one."""
        self.chosen = technique.type
        self.techniques = [technique, *(each for each in self.techniques if each.type != technique.type)]

    def as_json(self) -> dict[str, Any]:
        """Return the details of the event `planning_information`."""
        return {
            "technique_information": [
                {
                    "maintenance_type": f"MAINTENANCE_TYPE_{each.type}",
                    "is_chosen": each.type == self.chosen,
                    "is_applicable": each.is_applicable,
                    **({"cost": each.cost} if each.cost is not None else {}),
                    **(
                        {"incrementalization_issues": [issue.as_json() for issue in each.issues]}
                        if each.issues
                        else {}
                    ),
                }
                for each in self.techniques
            ],
            "source_table_information": self.sources,
        }


def recompute(*issues: Issue, cost: float | None = None, sources: Any = ()) -> RefreshPlan:
    """Return the plan of a complete recomputation for these reasons."""
    technique = Technique("COMPLETE_RECOMPUTE", True, cost, issues)
    return RefreshPlan("COMPLETE_RECOMPUTE", [technique], list(sources))


@dataclass(frozen=True)
class ViewUpdate:
    """What the refresh of a view reads of its update.

    Attributes:
        owner: Name of the pipeline.
        update_id: Identifier of the update.
        code: Hash of the user's code.
        conf: Settings of the pipeline and the flow.
        full_refresh: Whether the view is written even if nothing changed.
        on_plan: Called once, with the technique that refreshes the view.
        now: Returns the time in seconds since 1970, for `current_date()` and the like.
        storage: Folder of the pipeline.
    """

    owner: str
    update_id: str
    code: str
    conf: Mapping[str, str]
    full_refresh: bool
    on_plan: Callable[[RefreshPlan], None] = lambda _: None
    now: Callable[[], float] = time.time
    storage: Path | None = None
