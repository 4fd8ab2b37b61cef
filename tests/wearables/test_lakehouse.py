"""The job `daily` of the bundle, end to end: land, pipeline, checks (DM-2 to DM-4, DM-7).

However the files arrive, the tables are those that the oracle computes from all of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fixtures.generate import generate

from tests.wearables.company import Company
from tests.wearables.oracle import Lakehouse, lakehouse

# The suite's JVM, whichever test comes first.
pytestmark = pytest.mark.usefixtures("spark")


@pytest.fixture
def company(tmp_path: Path) -> Company:
    return Company(tmp_path / "lakehouse")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    generate(folder, users=4, days=5, seed=11, longest=90)
    return folder


@pytest.fixture(scope="module")
def wanted(source: Path) -> Lakehouse:
    return lakehouse(source)


@pytest.fixture
def only(source: Path, tmp_path: Path) -> Callable[[Callable[[str], bool]], Path]:
    """A source folder with those daily files whose names fit, and the registrations."""
    folder = tmp_path / "part"

    def make(fits: Callable[[str], bool]) -> Path:
        shutil.copytree(
            source, folder, ignore=lambda _, names: [n for n in names if n[:2] == "20" and not fits(n)]
        )
        return folder

    return make


@pytest.mark.slow
def test_all_files_at_once_give_the_tables_of_the_oracle_and_a_further_run_writes_nothing(
    company: Company, source: Path, wanted: Lakehouse
) -> None:
    first = company.run(source)
    assert company.differences(wanted) == {}
    written = {dataset.name.split(".")[-1]: dataset.rows_written for dataset in first.datasets}
    assert written["bronze"] == sum(wanted.bronze.values())

    before = company.versions()
    again = company.run(source)
    assert company.versions() == before
    assert {dataset.rows_written for dataset in again.datasets if dataset.kind != "view"} == {0}


@pytest.mark.slow
def test_later_days_first_a_few_a_run_give_the_same_tables_and_new_files_add_exactly_their_rows(
    company: Company, source: Path, wanted: Lakehouse, only: Callable[[Callable[[str], bool]], Path]
) -> None:
    part = only(lambda name: name >= "2019-12-18")
    landed = company.settings.volumes / "dev" / "dev_ann_wearables" / "landing" / "daily"
    for days in (2, 3):
        company.run(part, days="2")
        assert len(list(landed.iterdir())) == days
    assert company.differences(lakehouse(part)) == {}

    shutil.copytree(source, part, dirs_exist_ok=True)
    before = company.rows("bronze")
    company.run(part)
    added = company.rows("bronze") - before
    assert {row[8] for row in added} == {"2019-12-16.json.gz", "2019-12-17.json"}
    assert company.differences(wanted) == {}


@pytest.mark.slow
def test_all_fourteen_real_days_give_the_tables_of_the_oracle(company: Company, data: Path) -> None:
    company.run(data / "wearables")
    assert company.differences(lakehouse(data / "wearables")) == {}


@pytest.mark.slow
def test_a_full_refresh_gives_the_tables_that_daily_runs_gave_and_keeps_bronze(
    company: Company, source: Path, wanted: Lakehouse
) -> None:
    """INV-16."""
    for _ in range(2):
        company.run(source, days="3")
    before = company.versions()
    company.backfill()
    assert company.differences(wanted) == {}
    after = company.versions()
    assert [after[name] for name in ("bronze", "registrations", "gym_logs")] == [
        before[name] for name in ("bronze", "registrations", "gym_logs")
    ]


@pytest.mark.slow
def test_the_real_days_one_run_at_a_time_give_the_same_tables(company: Company, data: Path) -> None:
    for _ in range(14):
        company.run(data / "wearables", days="1")
    assert company.differences(lakehouse(data / "wearables")) == {}
