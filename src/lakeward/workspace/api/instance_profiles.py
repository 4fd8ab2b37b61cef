"""Instance profiles of AWS that clusters may name: registered ones are listed, and have no effect here.

Source: https://docs.databricks.com/api/workspace/instanceprofiles
"""

from __future__ import annotations

import re

from lakeward.databricks_shims.local_workspace import ApiError, Route, exclusively, invalid_parameter
from lakeward.workspace.api.fields import Types, read_fields
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

_KIND = "instance_profile"
_PATH = "/api/2.0/instance-profiles"
_FIELDS: Types = {"instance_profile_arn": str, "iam_role_arn": str, "is_meta_instance_profile": bool}
_ARN = re.compile(r"arn:aws[\w-]*:iam::\d{12}:(?P<kind>instance-profile|role)/[\w+=,.@/-]+")


def list_profiles(call: ServerRequest) -> Document:
    """List the registered instance profiles."""
    return {"instance_profiles": call.store.find(_KIND)}


@exclusively
def add(call: ServerRequest) -> None:
    """Register an instance profile. Raises ApiError for one that is registered already."""
    profile = _read(call)
    arn = profile["instance_profile_arn"]
    if call.store.get(_KIND, arn) is not None:
        raise ApiError(400, "RESOURCE_ALREADY_EXISTS", f"The instance profile {arn} is registered already.")
    call.store.put(_KIND, arn, {"is_meta_instance_profile": False, **profile})


@exclusively
def edit(call: ServerRequest) -> None:
    """Change the role of an instance profile."""
    profile = _read(call)
    arn = profile["instance_profile_arn"]
    call.store.put(_KIND, arn, {**_found(call, arn), **profile})


@exclusively
def remove(call: ServerRequest) -> None:
    """Remove an instance profile from the list."""
    call.store.delete(_KIND, _found(call, _read(call)["instance_profile_arn"])["instance_profile_arn"])


def _read(call: ServerRequest) -> Document:
    profile = read_fields(call.body, _FIELDS, required=["instance_profile_arn"])
    for name, kind in (("instance_profile_arn", "instance-profile"), ("iam_role_arn", "role")):
        found = _ARN.fullmatch(profile[name]) if name in profile else None
        if name in profile and (found is None or found["kind"] != kind):
            raise invalid_parameter(f"{name} is not the ARN of such an object: {profile[name]:.200}")
    return profile


def _found(call: ServerRequest, arn: str) -> Document:
    found = call.store.get(_KIND, arn)
    if found is None:
        raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", f"The instance profile {arn} is not registered.")
    return found


ROUTES = (
    Route("GET", f"{_PATH}/list", list_profiles),
    Route("POST", f"{_PATH}/add", add),
    Route("POST", f"{_PATH}/edit", edit),
    Route("POST", f"{_PATH}/remove", remove),
)
