"""What the suites of public repositories do to get a session, and what they expect around it."""

from __future__ import annotations

import re

import pytest

from tests.adoption.conftest import REPOSITORIES, Suite, run_suite


def cases_of(name: str) -> list[str]:
    """The tests of a repository, as its files have them."""
    files = sorted((REPOSITORIES / name / "tests").glob("test_*.py"))
    return [each for file in files for each in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE)]


@pytest.fixture(scope="module")
def retailer(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    # `lakeward test` reads this runtime off the pins.
    return run_suite("retailer", tmp_path_factory.mktemp("r"), LAKEWARD_PINNED_RUNTIME="16.4")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    return run_suite("template", tmp_path_factory.mktemp("t"))


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("name", cases_of("retailer"))
def test_in_a_repository_with_a_session_of_its_own(retailer: Suite, name: str) -> None:
    assert retailer.outcomes.get(name) == "passed", retailer.printed


@pytest.mark.process
@pytest.mark.parametrize("name", cases_of("template"))
def test_in_a_repository_made_for_databricks_connect(template: Suite, name: str) -> None:
    assert template.outcomes.get(name) == "passed", template.printed
