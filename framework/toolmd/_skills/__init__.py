"""Skills: checked against their tools and run step by step."""
