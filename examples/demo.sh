#!/usr/bin/env bash
# What `make demo` runs: a first answer and a first edit, in a directory and a home that are thrown away.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$PWD/.venv/bin:$PATH"

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export BRIDLE_HOME="$place/home"
mkdir "$place/project"
cp examples/scripts/hello.json examples/scripts/edit.json "$place/project"
cd "$place/project"

# Shows a command as one would type it, and runs it.
run() { printf '\n$ %s\n' "$1" && eval "$1"; }

echo "There is no language model in this demo: a scripted one answers, with the words that are written in"
echo "examples/scripts. All around it is real: the engine, the tools, the permissions, the record."

run 'bridle run --model scripted/hello.json "what can you do"'

run "echo 'print(\"hello\")' > hello.py"
run 'bridle run -v --accept-edits --model scripted/edit.json "make the greeting friendlier"'
run 'cat hello.py'

run 'bridle session list'
run 'bridle session verify'

echo
echo "Without --accept-edits Bridle shows the diff and asks first. Everything was recorded, and is deleted now."
echo "To use a real model: bridle config set model PROVIDER/MODEL, then bridle run \"...\""
