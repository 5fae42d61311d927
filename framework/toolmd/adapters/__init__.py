"""Offer a workspace's tools and skills to agent frameworks; each module needs its own."""
