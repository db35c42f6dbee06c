"""What a plan says of journeys: their steps, what feeds them, and where they are written elsewhere."""
