"""Error responses of the local workspace."""

from __future__ import annotations


class ApiError(Exception):
    """An error response: status, the platform's error code, and a message."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code

    def as_json(self) -> dict[str, str]:
        """Return the body: without a code, that of API 1.2."""
        return {"error_code": self.code, "message": str(self)} if self.code else {"error": str(self)}


def missing(what: str, code: str = "RESOURCE_DOES_NOT_EXIST") -> ApiError:
    """Return the response for an object that does not exist."""
    return ApiError(404, code, f"{what} does not exist.")


def invalid_parameter(message: str) -> ApiError:
    """Return the response for a field, query parameter or path with an invalid value."""
    return ApiError(400, "INVALID_PARAMETER_VALUE", message)
