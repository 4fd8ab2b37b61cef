"""WITH (CREDENTIAL … ENCRYPTION …) of a source of COPY INTO: checked, and without an effect.

Files are read with this machine's permissions. Source of the conditions:
https://docs.databricks.com/aws/en/error-messages/error-classes
"""

from __future__ import annotations

from collections.abc import Iterable

from lakeward.sql.construct import Refusal
from lakeward.sql.constructs.property_list import read_properties
from lakeward.sql.token_cursor import TokenCursor

_AWS, _AZURE = ("s3", "s3n", "s3a"), ("wasbs", "abfss")
# A session token is part of temporary credentials only.
_CREDENTIAL_KEYS = {
    **dict.fromkeys(_AWS, ("AWS_ACCESS_KEY", "AWS_SECRET_KEY")),
    **dict.fromkeys(_AZURE, ("AZURE_SAS_TOKEN",)),
}
_ENCRYPTION_TYPE = "AWS_SSE_C"


class InvalidClause(Exception):
    """An error with a condition of its own."""

    def __init__(self, condition: str, message: str, sql_state: str = "42601") -> None:
        super().__init__(message)
        self.refusal = Refusal(condition, message, sql_state)


def read_credentials(cursor: TokenCursor, path: str) -> None:
    """Read the clause behind a path, if there is one. Raises InvalidClause, Unmatched."""
    if not cursor.words("WITH", "("):
        return
    scheme = path.partition(":")[0].lower() if "://" in path else "dbfs"
    if cursor.words("CREDENTIAL"):
        if cursor.next is not None and cursor.next.text == "(":
            _check_credential(scheme, _keys(cursor))
        else:
            cursor.part()
    if cursor.words("ENCRYPTION"):
        _check_encryption(scheme, _keys(cursor))
    cursor.need(")")


def _keys(cursor: TokenCursor) -> dict[str, str]:
    return {key.upper(): value for key, value in read_properties(cursor).items()}


def _check_credential(scheme: str, given: dict[str, str]) -> None:
    if scheme not in _CREDENTIAL_KEYS:
        raise _not_allowed("CREDENTIALS", scheme, "credentials", _CREDENTIAL_KEYS)
    keys = _CREDENTIAL_KEYS[scheme]
    if any(key not in given for key in keys):
        raise InvalidClause(
            "COPY_INTO_CREDENTIALS_REQUIRED",
            f"Credentials of the source of COPY INTO must have {' and '.join(keys)}.",
        )


def _check_encryption(scheme: str, given: dict[str, str]) -> None:
    if scheme == "wasbs":
        raise InvalidClause(
            "COPY_INTO_ENCRYPTION_NOT_SUPPORTED_FOR_AZURE",
            "Encryption of the source of COPY INTO on Azure requires the scheme abfss.",
            "0A000",
        )
    if scheme not in (*_AWS, "abfss"):
        raise _not_allowed("ENCRYPTION", scheme, "encryption", (*_AWS, "abfss"))
    if scheme == "abfss":
        return
    for key in ("TYPE", "MASTER_KEY"):
        if key not in given:
            raise InvalidClause(
                "COPY_INTO_ENCRYPTION_REQUIRED", f"Encryption of the source of COPY INTO must have {key}."
            )
    if given["TYPE"].upper() != _ENCRYPTION_TYPE:
        raise InvalidClause(
            "COPY_INTO_ENCRYPTION_REQUIRED_WITH_EXPECTED",
            f"Encryption of the source of COPY INTO must have TYPE = '{_ENCRYPTION_TYPE}', "
            f"not '{given['TYPE']}'.",
        )


def _not_allowed(kind: str, scheme: str, what: str, schemes: Iterable[str]) -> InvalidClause:
    return InvalidClause(
        f"COPY_INTO_{kind}_NOT_ALLOWED_ON",
        f"Invalid scheme {scheme}. {what.capitalize()} of the source of COPY INTO requires one of "
        f"{', '.join(schemes)}.",
        "0A000",
    )
