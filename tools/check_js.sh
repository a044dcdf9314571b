#!/usr/bin/env bash
# Types of the studio's JavaScript, from its JSDoc comments. TypeScript is installed into a cache
# folder, never into the tree; without Node.js the check says that it is left out, and in CI fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=7.0.2
if ! command -v npm >/dev/null; then
  echo "The studio's JavaScript is not checked: there is no Node.js (npm)." >&2
  [ -z "${CI:-}" ] || exit 1
  exit 0
fi
cache="${XDG_CACHE_HOME:-$HOME/.cache}/layoutdm-typescript-$version"
if [ ! -x "$cache/node_modules/.bin/tsc" ]; then
  mkdir -p "$cache"
  npm install --silent --no-fund --no-audit --no-package-lock --prefix "$cache" "typescript@$version"
fi
"$cache/node_modules/.bin/tsc" --project src/layoutdm/studio/tsconfig.json
echo "The studio's JavaScript is well typed."
