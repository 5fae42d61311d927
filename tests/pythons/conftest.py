"""What lies in `installed` runs in environments of its own: `make test-pythons`."""

collect_ignore = ["installed"]
