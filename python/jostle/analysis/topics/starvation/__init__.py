"""What slow requests do to fast ones."""
