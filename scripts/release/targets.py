"""The machines that a wheel is released for, and how each compiler names them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

__all__ = ["TARGETS", "Target", "chosen"]

MACHINES = {"x86_64": 62, "aarch64": 183}
"""As ELF numbers them."""

TAGS = {
    "manylinux_2_17": "manylinux2014_{0}.manylinux_2_17_{0}",
    "musllinux_1_2": "musllinux_1_2_{0}",
}


@dataclass(frozen=True)
class Target:
    """A machine, and the oldest C library there that the wheel works with."""

    triple: str
    """As Rust names it."""

    zig: str
    """As zig names it, with the version of the C library."""

    policy: str
    """The C library as wheels name it: PEP 600 for glibc, PEP 656 for musl."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """What the build of a crate has to be told because it cannot be found out on another machine."""

    @property
    def arch(self) -> str:
        return self.triple.partition("-")[0]

    @property
    def elf_machine(self) -> int:
        return MACHINES[self.arch]

    @property
    def tag(self) -> str:
        """The platform in the wheel's name, with its older name where it has one."""
        return TAGS[self.policy].format(self.arch)

    def wheel(self, version: str) -> str:
        """The wheel's name: Python's stable interface, as of 3.11."""
        return f"jostle-{version}-cp311-abi3-{self.tag}.whl"


TARGETS = (
    Target("x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.17", "manylinux_2_17"),
    Target(
        "aarch64-unknown-linux-gnu",
        "aarch64-linux-gnu.2.17",
        "manylinux_2_17",
        {
            "JEMALLOC_SYS_WITH_LG_PAGE": "16"
        },  # its pages have 4, 16 or 64 KiB, and jemalloc aborts on larger ones
    ),
    Target("x86_64-unknown-linux-musl", "x86_64-linux-musl", "musllinux_1_2"),
)


def chosen(triples: Iterable[str]) -> list[Target]:
    """Those that have these names, in the order of `TARGETS`. ValueError names one that there is not."""
    wanted = set(triples)
    if unknown := wanted - {target.triple for target in TARGETS}:
        there = ", ".join(target.triple for target in TARGETS)
        raise ValueError(f"no wheel is released for {', '.join(sorted(unknown))}; there are {there}")
    return [target for target in TARGETS if target.triple in wanted]
