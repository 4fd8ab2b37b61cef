"""HTTP: the ASGI application, its protocol limits, the request log and the table of routes."""
