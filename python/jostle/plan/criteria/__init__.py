"""What a plan says of its results: conditions, requirements, claims, and the metrics that they are about."""
