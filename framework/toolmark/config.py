"""The project's settings: command line over TOOLMARK_* over file over default."""
