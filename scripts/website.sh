#!/usr/bin/env bash
# `make docs`: the site of docs/, with its generator in an environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/failing.sh
. scripts/uv.sh
ensure_uv
export UV_PROJECT_ENVIRONMENT=.tools/docs NO_MKDOCS_2_WARNING=1
step "installing the generator of the site" .tools/bin/uv sync --locked --quiet --only-group docs
.tools/docs/bin/mkdocs build --quiet
echo "target/site/index.html"
