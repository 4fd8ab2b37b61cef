"""The event log, the event file of the running update, event hooks and progress."""
