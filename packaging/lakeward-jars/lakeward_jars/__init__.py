"""The jars of Delta Lake that lakeward's Spark needs, for machines that reach no Maven repository.

lakeward finds them here by itself. Made by The Delta Lake Project Authors, under the Apache License 2.0.
"""
