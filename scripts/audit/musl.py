"""Has each package of the base install a wheel for musl, the C library of Alpine?"""

from audit.packages import base_python, wheels_of

__all__ = ["without_wheels"]

MACHINES = ("x86_64", "aarch64")


def without_wheels() -> list[str]:
    """A line for each package of the base install and machine for which there is none."""
    return [
        f"{name} {version}: no wheel for musl on {machine}"
        for name, version in base_python()
        for machine in MACHINES
        if not any(_fits(wheel, machine) for wheel in wheels_of(name, version))
    ]


def _fits(wheel: str, machine: str) -> bool:
    return wheel.endswith("-any.whl") or ("-musllinux_" in wheel and wheel.endswith(f"_{machine}.whl"))
