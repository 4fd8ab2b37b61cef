"""Persistent state of the server: documents in SQLite, tokens, the connection file."""
