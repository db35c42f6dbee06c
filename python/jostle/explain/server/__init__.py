"""The server that is explained: its address, its routes, its processes, and how much may be asked of it."""
