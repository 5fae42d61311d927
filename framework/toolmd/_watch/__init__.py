"""Hot reload: from file events to one new snapshot for each burst of saves."""

from toolmd._watch.watcher import Watcher

__all__ = ["Watcher"]
