"""What a person or a program reads: findings, results, runs, pictures."""
