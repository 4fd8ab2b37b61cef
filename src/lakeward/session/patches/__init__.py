"""Changes to PySpark and Delta that a session needs; each module declares its own as `PATCHES`."""
