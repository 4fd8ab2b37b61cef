"""The cases, a module an area."""
