"""What a person sees while a run goes on: a progress display on a terminal, plain lines elsewhere."""

from jostle.live.observers import Plain, Progress, Silent, observer_for

__all__ = ["Plain", "Progress", "Silent", "observer_for"]
