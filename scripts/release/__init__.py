"""A release: wheels, source distribution, checksums, and what they are made of. See __main__.py."""
