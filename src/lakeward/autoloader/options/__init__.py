"""Auto Loader's options: one table that declares them, and typed access to the values of a stream."""
