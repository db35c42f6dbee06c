"""Is what is called 95 % 95 %? Intervals, findings and pages of known truth: simulated, and on real
servers."""
