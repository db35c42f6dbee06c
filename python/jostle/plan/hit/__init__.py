"""The plan of `jostle hit`, made of its options."""
