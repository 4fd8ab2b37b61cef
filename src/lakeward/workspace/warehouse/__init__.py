"""The local SQL warehouse: statement processes, sessions and results. Independent of HTTP."""
