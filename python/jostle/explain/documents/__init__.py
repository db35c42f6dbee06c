"""Explanations as documents and in folders, for one server and for the whole roster."""
