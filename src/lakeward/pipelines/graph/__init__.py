"""The dataflow graph as data, and the helpers that every other package uses."""
