#!/usr/bin/env bash
# `make demo` runs this: a first answer and a first edit, in a temporary directory and home.
# The weights of the small model stay in ~/.bridle/models (or BRIDLE_HOME), so they are downloaded only once.
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

# Prints a command as a user would type it, and runs it.
run() { printf '\n$ %s\n' "$1" && eval "$1"; }

echo
echo "A small model answers on this machine. It has 135 million parameters and runs without a key."
run 'bridle run "What is the capital of France?"'

echo
echo "It does simple orders with tools: it lists, reads, searches, creates, edits and runs. Nothing is scripted."
run "echo 'COUNT = 2' > hello.py && echo 'print(\"hello \" * COUNT)' >> hello.py"
run 'bridle run -v "list the files"'
run 'bridle run -v --accept-edits "set COUNT to 3 in hello.py"'
id=$(bridle session list --json | python3 -c "import json, sys; print(json.load(sys.stdin)[0]['id'][:13])")
run 'cat hello.py'
run "bridle run -v --allow 'bash(python3:*)' 'run hello.py'"

echo
echo "You can undo what a session changed on disk, and you can undo the undo."
run "bridle session turns $id"
run "bridle session rewind $id --to 0 --yes"
run 'cat hello.py'
run "bridle session rewind $id --undo --yes > /dev/null && cat hello.py"

run 'bridle session list'
run 'bridle session verify'

echo
echo "Without --accept-edits, Bridle shows the diff and asks first. The demo now deletes everything it recorded."
echo "To connect a larger model: bridle init"
