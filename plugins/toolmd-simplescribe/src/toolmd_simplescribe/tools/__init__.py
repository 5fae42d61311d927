"""The six tools: what each file says is enforced, what stands beside it runs."""
