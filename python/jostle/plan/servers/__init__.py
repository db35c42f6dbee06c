"""What a plan says of the servers that it loads."""
