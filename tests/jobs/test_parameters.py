"""The parameters of a job."""

from __future__ import annotations

import pytest

from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import parameter_values

JOB = {"parameters": [{"name": "source", "default": ""}, {"name": "days", "default": 3}]}


def test_defaults_are_texts_and_given_values_replace_them() -> None:
    assert parameter_values("j", JOB, {}) == {"source": "", "days": "3"}
    assert parameter_values("j", JOB, {"days": "1"}) == {"source": "", "days": "1"}


def test_an_unknown_parameter_names_the_known_ones() -> None:
    with pytest.raises(ConfigurationError) as caught:
        parameter_values("j", JOB, {"day": "1"})
    assert "Did you mean `days`" in str(caught.value)
    assert "days, source" in str(caught.value)
    with pytest.raises(ConfigurationError, match="The job has no parameters"):
        parameter_values("j", {}, {"day": "1"})
