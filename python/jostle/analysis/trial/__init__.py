"""What one trial measured."""
