"""Records that clients create, read and delete: the handlers of one kind, which is declared as a table."""

from __future__ import annotations

import builtins
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError, invalid_parameter
from lakeward.workspace.api.fields import Types, read_fields, types_of
from lakeward.workspace.api.securables import delete_grants, move_grants, require_record
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document, now


def _no_check(_: Document) -> None:
    """Accept all values of the right type."""


@dataclass(frozen=True)
class RecordKind:
    """One kind of record.

    Attributes:
        kind: Kind of the documents in the store.
        noun: Name in error messages.
        key: Field of the identifier; equal to `unique` where the name is the identifier.
        items: Field of a list answer.
        required: Fields that a new record needs.
        unique: Field that no two records share, "" where none is.
        hidden: Fields that are checked and neither kept nor returned.
        wrapper: Object in which single records are returned, "" for the record itself.
        defaults: Fields that every new record has.
        check: Raises ApiError for invalid values.
        times: Names of the fields for the times of creation and change.
        creator: Field for who created it.
        as_shown: Returns a stored record as responses have it.
        refers_to: Fields with the name of another record, and the kind of that record.
        used_by: Kinds of records that refer to one of this kind, and their field: the reverse of `refers_to`.
    """

    kind: str
    noun: str
    key: str
    items: str
    required: tuple[str, ...]
    unique: str = ""
    hidden: tuple[str, ...] = ()
    wrapper: str = ""
    defaults: tuple[tuple[str, Any], ...] = ()
    check: Callable[[Document], None] = _no_check
    times: tuple[str, str] = ("created_at", "updated_at")
    creator: str = "created_by"
    as_shown: Callable[[Document], Document] = dict
    refers_to: tuple[tuple[str, str], ...] = ()
    used_by: tuple[tuple[str, str], ...] = ()

    @cached_property
    def fields(self) -> Types:
        """The settable fields and their types."""
        return types_of(self.kind)

    def list(self, call: ServerRequest) -> Document:
        """List all records."""
        return {self.items: [self.as_shown(each) for each in call.store.find(self.kind)]}

    def get(self, call: ServerRequest) -> Document:
        """Return one record."""
        return self._answer(self._found(call))

    def create(self, call: ServerRequest) -> Document:
        """Keep a new record."""
        body = self._read(call, self.required)
        if self.unique:
            self._refuse_duplicate(call, body)
        key = str(body[self.key]) if self._is_securable else self._new_key(call)
        created, changed = self.times
        made = {**dict(self.defaults), **body, self.key: _number(self, key)}
        made.update({created: now(), changed: now(), self.creator: call.caller})
        call.store.put(self.kind, key.lower(), made)
        return self._answer(made)

    def edit(self, call: ServerRequest) -> Document:
        """Replace the settable fields of a record."""
        return self._change(call, self._read(call, self.required), replace=True)

    def update(self, call: ServerRequest) -> Document:
        """Change some fields of a record."""
        body = self._read(call, ())
        if not self._is_securable or call.body.get("new_name") is None:
            return self._change(call, body, replace=False)
        name = read_fields(call.body, {"new_name": str})["new_name"]
        self._rename(call, self._found(call), name)
        body.pop(self.key, None)
        return self._change(call, body, replace=False, key=name)

    def delete(self, call: ServerRequest) -> None:
        """Remove a record; one that another refers to only with `force`."""
        found = self._found(call)
        users = [] if not self.used_by or call.flag("force") else self._users(call, found[self.key])
        if users:
            kind, _, user = users[0]
            message = (
                f"{self.noun} '{found[self.key]}' is used by the {kind.replace('_', ' ')} '{user['name']}'"
            )
            raise ApiError(400, "INVALID_STATE", f"{message}. Delete that first, or set force.")
        name = str(found[self.key]).lower()
        # The record is deleted last: after a crash before that, the client deletes it again.
        if self._is_securable:
            delete_grants(call, self.kind, name)
        call.store.delete(self.kind, name)

    @property
    def _is_securable(self) -> bool:
        """Whether its records are objects of Unity Catalog, whose name is their id."""
        return self.key == self.unique

    def _users(self, call: ServerRequest, name: str) -> builtins.list[tuple[str, str, Document]]:
        """Return the records that refer to one, each with its kind and the field with the name."""
        return [
            (kind, field, each)
            for kind, field in self.used_by
            for each in call.store.find(kind)
            if str(each.get(field)).lower() == name.lower()
        ]

    def _require_referred(self, call: ServerRequest, body: Document) -> None:
        for field, kind in self.refers_to:
            if field in body:
                require_record(call, kind, body[field])

    def _rename(self, call: ServerRequest, found: Document, name: str) -> None:
        """Give a record another name, which is its id."""
        old, renamed = str(found[self.key]).lower(), {**found, self.key: name}
        # A crash leaves both records: the client renames it again.
        if name.lower() != old and call.store.get(self.kind, name.lower()) != renamed:
            self._refuse_duplicate(call, {self.unique: name})
        # In this order each reference has its record.
        call.store.put(self.kind, name.lower(), renamed)
        for kind, field, user in self._users(call, found[self.key]):
            call.store.put(kind, user["name"].lower(), {**user, field: name})
        move_grants(call, self.kind, old, name.lower())
        if name.lower() != old:
            call.store.delete(self.kind, old)

    def _change(self, call: ServerRequest, body: Document, *, replace: bool, key: str = "") -> Document:
        found = self._found(call, key)
        key = str(found[self.key]).lower()
        if self.unique and body.get(self.unique, found.get(self.unique)) != found.get(self.unique):
            self._refuse_duplicate(call, body)
            if self._is_securable:
                raise invalid_parameter(
                    f"{self.noun} '{found[self.key]}' cannot be renamed here: create another one."
                )

        def change(kept: Document) -> None:
            if replace:
                for name in self.fields:
                    kept.pop(name, None)
            kept.update(body)
            kept[self.times[1]] = now()

        return self._answer(call.store.change(self.kind, key, change) or {})

    def _read(self, call: ServerRequest, required: tuple[str, ...]) -> Document:
        body = read_fields(call.body, self.fields, required=required)
        self.check(body)
        self._require_referred(call, body)
        return {name: value for name, value in body.items() if name not in self.hidden}

    def _found(self, call: ServerRequest, key: object = "") -> Document:
        key = key or call.path_parameter.strip("/") or call.query.get(self.key) or call.body.get(self.key)
        if not isinstance(key, (str, int)) or not str(key):
            raise invalid_parameter(f"Missing required field: {self.key}")
        found = call.store.get(self.kind, str(key).lower())
        if found is None:
            raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", f"{self.noun} '{key}' does not exist.")
        return found

    def _refuse_duplicate(self, call: ServerRequest, body: Document) -> None:
        name = str(body.get(self.unique, ""))
        if any(char in name for char in "/\0") and self._is_securable:
            raise invalid_parameter(f"{name!r} is not a valid name.")
        if any(str(each.get(self.unique, "")).lower() == name.lower() for each in call.store.find(self.kind)):
            raise ApiError(400, "RESOURCE_ALREADY_EXISTS", f"{self.noun} '{name}' already exists.")

    def _new_key(self, call: ServerRequest) -> str:
        return str(call.store.number()) if self.key in _NUMBERED else secrets.token_hex(8).upper()

    def _answer(self, record: Document) -> Document:
        shown = self.as_shown(record)
        return {self.wrapper: shown} if self.wrapper else shown


_NUMBERED = ("credential_id",)


def _number(kind: RecordKind, key: str) -> Any:
    return int(key) if kind.key in _NUMBERED else key
