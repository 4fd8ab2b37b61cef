"""Sources of the pipeline `wearables`: a dataset a file."""
