"""Bills of materials in CycloneDX 1.5: of the crates in the wheel, and of the Python packages beside it.

Source: https://cyclonedx.org/docs/1.5/json/. Without dates and random serial numbers: the same for the same
lock files.
"""

import tomllib
import uuid
from collections.abc import Iterable
from typing import Any

from audit.packages import ROOT, Package

__all__ = ["bill"]


def bill(kind: str, packages: Iterable[Package]) -> dict[str, Any]:
    """`kind` as in package URLs: "cargo" or "pypi"."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    components = [_component(kind, package) for package in packages]
    purl = f"pkg:pypi/jostle@{version}"
    contents = " ".join(component["purl"] for component in components)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{purl} {kind} {contents}')}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": purl,
                "name": "jostle",
                "version": version,
                "purl": purl,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
            }
        },
        "components": components,
        "dependencies": [{"ref": purl, "dependsOn": [component["bom-ref"] for component in components]}],
    }


def _component(kind: str, package: Package) -> dict[str, Any]:
    purl = f"pkg:{kind}/{package.name}@{package.version}"
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": package.name,
        "version": package.version,
        "purl": purl,
    }
    if package.licence:
        name = {"expression": package.licence} if kind == "cargo" else {"license": {"name": package.licence}}
        found["licenses"] = [name]
    if package.sha256:
        found["hashes"] = [{"alg": "SHA-256", "content": package.sha256}]
    return found
