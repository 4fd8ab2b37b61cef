"""Pipeline SQL: statements that call the functions of the Python API."""
