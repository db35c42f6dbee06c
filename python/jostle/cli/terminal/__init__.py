"""What a terminal shows of a run while it goes on: frames, drawn as pure functions of its state."""
