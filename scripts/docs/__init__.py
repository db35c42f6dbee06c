"""Writes the documents that are made from the code. It is no part of what is installed."""
