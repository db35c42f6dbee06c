"""Which responses are slow now and then, when, and after what."""
