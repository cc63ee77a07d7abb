#!/usr/bin/env bash
# What `make demo` runs: a first answer and a first edit, in a directory and a home that are thrown away.
# The weights of the small model are kept in ~/.bridle/models (or BRIDLE_HOME), so that they are fetched once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bridle models pull
weights="${BRIDLE_HOME:-$HOME/.bridle}/models"

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export BRIDLE_HOME="$place/home"
mkdir "$place/project" "$BRIDLE_HOME"
ln -s "$weights" "$BRIDLE_HOME/models"
cd "$place/project"

# Shows a command as one would type it, and runs it.
run() { printf '\n$ %s\n' "$1" && eval "$1"; }

echo
echo "A small model answers, here on this machine. It has 135 million parameters and runs without a key."
run 'bridle run "What is the capital of France?"'

echo
echo "It can do simple orders with tools: list, read, search, create, edit and run. Nothing here is scripted."
run "echo 'COUNT = 2' > hello.py && echo 'print(\"hello \" * COUNT)' >> hello.py"
run 'bridle run -v "list the files"'
run 'bridle run -v --accept-edits "set COUNT to 3 in hello.py"'
id=$(bridle session list --json | python -c "import json, sys; print(json.load(sys.stdin)[0]['id'][:13])")
run 'cat hello.py'
run "bridle run -v --allow 'bash(python:*)' 'run hello.py'"

echo
echo "What a session has changed on disk can be taken back, and so can the taking back."
run "bridle session turns $id"
run "bridle session rewind $id --to 0 --yes"
run 'cat hello.py'
run "bridle session rewind $id --undo --yes > /dev/null && cat hello.py"

run 'bridle session list'
run 'bridle session verify'

echo
echo "Without --accept-edits Bridle shows the diff and asks first. Everything was recorded, and is deleted now."
echo "This model is often wrong. To connect a larger one: bridle init"
