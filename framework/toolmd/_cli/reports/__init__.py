"""Output for people and programs: findings, results, runs, pictures."""
