"""The configuration tree: reading, merging, and resolving references, variables and targets."""
