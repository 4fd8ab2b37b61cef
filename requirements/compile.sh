#!/bin/sh
# Makes the lock files anew, oldest supported Python first: requirements/compile.sh [--upgrade]
set -eu
cd "$(dirname "$0")/.."
compile() {
  uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-emit-index-url \
    --no-emit-find-links --no-annotate --custom-compile-command 'requirements/compile.sh' --allow-unsafe "$@"
}
compile requirements/build.in -o requirements/build.lock
compile pyproject.toml requirements/runtime.in -c requirements/build.lock -o requirements/runtime.lock
compile pyproject.toml requirements/dev.in --override requirements/dev.overrides -o requirements/dev.lock
compile requirements/site.in -o requirements/site.lock
compile pyproject.toml requirements/bench.in requirements/dev.in --override requirements/dev.overrides \
  -o requirements/bench.lock
