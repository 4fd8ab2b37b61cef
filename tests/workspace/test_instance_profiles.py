"""Instance profiles: registered, listed, changed and removed by the official client.

Source: https://docs.databricks.com/api/workspace/instanceprofiles
"""

from __future__ import annotations

from typing import Any

import pytest

sdk = pytest.importorskip("databricks.sdk")

CLIENT = "sdk/instance-profiles"
ARN = "arn:aws:iam::123456789012:instance-profile/readers"
ROLE = "arn:aws:iam::123456789012:role/readers"


def _listed(client: Any) -> dict[str, Any]:
    return {each.instance_profile_arn: each for each in client.instance_profiles.list()}


def test_a_profile_is_registered_changed_and_removed(client: Any) -> None:
    assert _listed(client) == {}
    client.instance_profiles.add(ARN, skip_validation=True)
    assert (_listed(client)[ARN].iam_role_arn, _listed(client)[ARN].is_meta_instance_profile) == (None, False)
    with pytest.raises(sdk.errors.DatabricksError, match="registered already"):
        client.instance_profiles.add(ARN)
    client.instance_profiles.edit(ARN, iam_role_arn=ROLE)
    assert _listed(client)[ARN].iam_role_arn == ROLE
    client.instance_profiles.remove(ARN)
    assert _listed(client) == {}
    for request in (client.instance_profiles.remove, client.instance_profiles.edit):
        with pytest.raises(sdk.errors.NotFound):
            request(ARN)


@pytest.mark.parametrize("arn", ["readers", ROLE, "arn:aws:iam::1:instance-profile/x", ARN + " "])
def test_an_arn_is_checked(client: Any, arn: str) -> None:
    with pytest.raises(sdk.errors.InvalidParameterValue, match="ARN"):
        client.instance_profiles.add(arn)
    with pytest.raises(sdk.errors.InvalidParameterValue, match="ARN"):
        client.instance_profiles.add(ARN, iam_role_arn=ARN)
