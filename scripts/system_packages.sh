#!/usr/bin/env bash
# Installs missing system packages: system_packages.sh COMMAND:PACKAGE...
set -euo pipefail
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" # servers are often installed only there

missing=()
for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
done
[ ${#missing[@]} -eq 0 ] && exit 0

give_up() {
    echo "bridle: missing on this system: ${missing[*]} (hint: install them with your package manager)" >&2
    exit 1
}

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || give_up
    as_root=(sudo -n)
fi
command -v apt-get >/dev/null || give_up
echo "installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null 2>&1 || {
    "${as_root[@]}" apt-get update -qq >/dev/null || give_up # a fresh machine has no package lists
    "${as_root[@]}" apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null || give_up
}
