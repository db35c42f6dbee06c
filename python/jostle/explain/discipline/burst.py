"""A burst: when its requests were sent, and when their responses came. The inference sees nothing else."""

from dataclasses import dataclass, replace

__all__ = ["Burst", "Job"]


@dataclass(frozen=True)
class Job:
    """One request. `at`: when it was sent, in seconds since the burst began. `demand`: its service time,
    measured alone, in seconds. `connection`: requests of a burst with the same number shared a connection.
    """

    at: float
    demand: float
    connection: int


@dataclass(frozen=True)
class Burst:
    """`ends`: when each job's response was complete, in seconds since the burst began; None if it was refused
    or never answered.
    """

    jobs: tuple[Job, ...]
    ends: tuple[float | None, ...]

    def __post_init__(self) -> None:
        if len(self.jobs) != len(self.ends):
            raise ValueError(f"{len(self.jobs)} jobs and {len(self.ends)} ends")

    def at_pace(self, pace: float) -> "Burst":
        """The burst as it would have been on a machine that is `pace` times as fast."""
        return Burst(
            tuple(replace(job, at=job.at / pace) for job in self.jobs),
            tuple(None if end is None else end / pace for end in self.ends),
        )
