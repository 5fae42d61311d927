"""Give a workspace's tools and skills to an agent framework; each module needs its framework."""
