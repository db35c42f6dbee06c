"""Whether the figures of a trial can be trusted."""
