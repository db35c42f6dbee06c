"""This machine: its facts, cores, ports, caches, users, processes and what they use."""
