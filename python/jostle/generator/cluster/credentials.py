"""Who may take part in a cluster: an authority, a certificate and key for each node, and one token.

Each node has them in a folder: ca.crt, node.crt, node.key, token. If Ray's own variables are already set (in
a pod or a batch job), these are used instead.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jostle.errors import ClusterRefused
from jostle.host.xdg import xdg_folder

__all__ = ["Credentials", "credentials_folder"]

VARIABLES = {
    "RAY_TLS_CA_CERT": "ca.crt",
    "RAY_TLS_SERVER_CERT": "node.crt",
    "RAY_TLS_SERVER_KEY": "node.key",
    "RAY_AUTH_TOKEN_PATH": "token",
}
"""The file for each of Ray's variables."""

SECRET = ("RAY_TLS_SERVER_KEY", "RAY_AUTH_TOKEN_PATH")

FIXED = {
    "RAY_AUTH_MODE": "token",
    "RAY_USE_TLS": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}

HEALTH_CHECK = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "6",
}
"""The head gives a node up after six checks without a response, about 18 s. Variables already set prevail."""

HINT = (
    "jostle cluster init writes an authority, certificates and a token; copy a node's folder to "
    "the node as {folder} (or name it in JOSTLE_CLUSTER)"
)


def credentials_folder() -> Path:
    """`$JOSTLE_CLUSTER`, else jostle/cluster in `$XDG_CONFIG_HOME`, which by default is ~/.config."""
    if chosen := os.environ.get("JOSTLE_CLUSTER"):
        return Path(chosen)
    return xdg_folder("XDG_CONFIG_HOME", Path.home() / ".config") / "cluster"


@dataclass(frozen=True)
class Credentials:
    """The credentials of a node, as files by Ray's variables."""

    files: Mapping[str, Path]

    @classmethod
    def find(cls, environment: Mapping[str, str] = os.environ) -> "Credentials":
        """This node's credentials. Raises a `ClusterRefused` that says what is missing and what to do."""
        folder = credentials_folder()
        hint = HINT.format(folder=folder)
        for name, closed in (("RAY_AUTH_MODE", "token"), ("RAY_USE_TLS", "1")):
            if environment.get(name, closed) != closed:
                raise ClusterRefused(
                    f"{name}={environment[name]}: anybody on the network could use this cluster",
                    f"unset it, or set {name}={closed}; {hint}",
                )
        files = {name: Path(environment.get(name) or folder / file) for name, file in VARIABLES.items()}
        missing = [str(path) for path in files.values() if not path.is_file()]
        if missing:
            raise ClusterRefused(f"a cluster needs a token and TLS; missing: {', '.join(missing)}", hint)
        for name in SECRET:
            if files[name].stat().st_mode & 0o077:
                raise ClusterRefused(f"{files[name]} can be read by others", f"chmod 600 {files[name]}")
        return cls(files)

    def environment(self) -> dict[str, str]:
        """The environment for Ray's processes, and for this process before Ray is imported."""
        checks = {name: os.environ.get(name, value) for name, value in HEALTH_CHECK.items()}
        return {**FIXED, **checks, **{name: str(path.absolute()) for name, path in self.files.items()}}
