"""Incremental refresh of materialized views: what changed in the sources, and what that changes in the view.

An update of a view reads the plan of its query (`view_plan`), finds what keeps it from being refreshed
incrementally (`eligibility`), reads the changes of its sources since the versions that the view has seen
(`change_set`, `seen_versions`), derives the changed rows of every operator from those of its inputs
(`delta_rules`), chooses a technique (`technique_choice`), and applies it in one commit
(`view_writes`).
"""
