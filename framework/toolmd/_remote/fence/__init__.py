"""Start programs in a fence of the system: Landlock for folders, a namespace for the network."""

from toolmd._remote.fence.fence import Fence, fence_of, fenced, lacking

__all__ = ["Fence", "fence_of", "fenced", "lacking"]
