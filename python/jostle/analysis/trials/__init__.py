"""What single trials measured, gathered once: no verdicts."""
