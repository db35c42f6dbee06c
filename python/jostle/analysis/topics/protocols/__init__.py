"""What is particular to a protocol: streams, pings, head-of-line blocking, ends of idle connections."""
