#!/usr/bin/env bash
# Installs the oldest and the newest Meerkat SDK for the tests, each in a folder: meerkat_sdks.sh VENV
set -euo pipefail

install() { # install VENV VERSION SHA256
    local target=$1/meerkat/$2
    [ -d "$target" ] && return
    echo "installing meerkat-sdk $2 for the tests into $target" >&2
    mkdir -p "$1/meerkat"
    fresh=$(mktemp -d "$1/meerkat/new-XXXXXX")
    trap 'rm -rf "$fresh"' EXIT
    printf 'meerkat-sdk==%s --hash=sha256:%s\n' "$2" "$3" >"$fresh/requirements.txt"
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --target "$fresh" --requirement "$fresh/requirements.txt" || {
        echo "hint: the first run needs a package index; point pip at yours (pip config set global.index-url)" >&2
        exit 1
    }
    chmod 755 "$fresh" # mktemp allows only the owner
    mv "$fresh" "$target"
}

install "$1" 0.4.0 04bae3e52ea3547de7aef6c6b0e91124b12744011d232bc29357c0a19e5f5478
install "$1" 0.9.6 76fc6a25a643327741aff4a4652f03a34560d1dffcb000f1da7ab1c3db7d257a
