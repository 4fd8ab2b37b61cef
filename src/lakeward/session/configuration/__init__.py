"""Spark settings of a session: lakeward's, the profile's and the user's."""
