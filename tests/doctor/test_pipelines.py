"""Views that every update recomputes, and checkpoints that grew; each with a healthy twin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lakeward.doctor import Examination, examine_pipeline

LASTING = {
    "issue_type": "PLAN_NOT_DETERMINISTIC",
    "prevent_incrementalization": True,
    "message": "current_date() (line 3) depends on when the update runs.",
}
PASSING = {"issue_type": "DATA_HAS_CHANGED", "prevent_incrementalization": True, "message": "replaced"}


def update(
    number: int, *, technique: str = "COMPLETE_RECOMPUTE", issues: Any = (LASTING,)
) -> list[dict[str, Any]]:
    """The events of one update of the view `totals`, which takes two seconds."""
    origin = {"update_id": f"u{number}", "dataset_name": "main.sales.totals"}
    plan = {
        "technique_information": [
            {
                "maintenance_type": f"MAINTENANCE_TYPE_{technique}",
                "is_chosen": True,
                "incrementalization_issues": list(issues),
            }
        ]
    }
    details = [
        ("planning_information", plan),
        ("flow_progress", {"status": "RUNNING"}),
        ("flow_progress", {"status": "COMPLETED"}),
    ]
    return [
        {
            "id": f"{number}-{index}",
            "timestamp": f"2026-01-01T00:{number:02}:0{index * 2 if index else 0}+00:00",
            "event_type": kind,
            "origin": origin,
            "details": {kind: content},
        }
        for index, (kind, content) in enumerate(details)
    ]


def found(storage: Path, *updates: list[dict[str, Any]]) -> Examination:
    storage.mkdir(exist_ok=True)
    lines = [json.dumps(event) for each in updates for event in each]
    (storage / "events.jsonl").write_text("\n".join(lines))
    examination = Examination()
    examine_pipeline(examination, storage)
    return examination


def test_a_view_that_is_recomputed_for_a_lasting_reason_is_named_with_it(tmp_path: Path) -> None:
    examination = found(tmp_path / "orders", update(1), update(2), update(3))
    (diagnosis,) = examination.diagnoses
    assert (diagnosis.finding, diagnosis.subject) == ("full-recompute", "main.sales.totals")
    assert dict(diagnosis.evidence) == {
        "updates": 3, "recomputed": 3, "seconds": 6.0, "reason": LASTING["message"],
    }  # fmt: skip
    assert diagnosis.fix[0] == f"Change the query: {LASTING['message']}"
    assert diagnosis.statements == ()


@pytest.mark.parametrize(
    "updates",
    [
        [update(1), update(2)],
        [update(1), update(2), update(3, technique="GROUP_AGGREGATE")],
        [update(number, issues=(PASSING,)) for number in range(1, 5)],
        [update(number, issues=()) for number in range(1, 5)],
        [update(number, technique="ROW_BASED", issues=()) for number in range(1, 5)],
    ],
    ids=["too few", "incremental since", "passing reason", "no reason", "incremental"],
)
def test_its_twins_are_healthy(updates: list[list[dict[str, Any]]], tmp_path: Path) -> None:
    assert found(tmp_path / "orders", *updates).is_healthy


@pytest.mark.parametrize(("batches", "findings"), [(500, ["checkpoint-growth"]), (499, [])])
def test_a_checkpoint_with_many_files(batches: int, findings: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "orders" / "checkpoints" / "bronze" / "0"
    for name in ("offsets", "commits"):
        (folder / name).mkdir(parents=True)
        for number in range(1000, 1000 + batches):
            (folder / name / str(number)).touch()
        (folder / name / ".1000.crc").touch()
    examination = found(tmp_path / "orders")
    assert [each.finding for each in examination.diagnoses] == findings
    if findings:
        assert dict(examination.diagnoses[0].evidence) == {"files": 1000, "batches": 1499}
        assert examination.diagnoses[0].subject == "checkpoints/bronze/0"


def test_a_damaged_event_log_hides_nothing_that_can_be_read(tmp_path: Path) -> None:
    storage = tmp_path / "orders"
    (storage / "event_log").mkdir(parents=True)
    (storage / "event_log" / "part-0.parquet").write_bytes(b"PAR1 cut")
    examination = found(storage, update(1), update(2), update(3))
    assert [each.finding for each in examination.diagnoses] == ["full-recompute"]
    assert list(examination.unreadable) == ["pipeline orders"]
    assert "part-0.parquet" in examination.unreadable["pipeline orders"]
