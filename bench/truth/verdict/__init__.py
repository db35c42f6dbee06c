"""How often a verdict is right: known truth, planted disturbances, planted faults, on real servers."""
