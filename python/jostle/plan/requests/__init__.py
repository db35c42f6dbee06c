"""What a plan says of a request: over HTTP, as a gRPC call, as raw bytes."""
