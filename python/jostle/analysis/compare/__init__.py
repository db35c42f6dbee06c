"""Two sides of a comparison, by how much they differ, and the sentence for it."""
