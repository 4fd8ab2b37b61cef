"""AUTO CDC: change feeds applied to streaming tables by sequence, in any order of arrival."""
