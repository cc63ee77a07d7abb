#!/bin/sh
# Creates the certificates of a cluster, once: certificates.sh FOLDER [NAME...]
#
#   ca.pem              the authority; it must sign only the nodes of this cluster
#   node.pem, node.key  identify nodes to each other
#   http.pem, http.key  identify gateways to clients, for localhost and each NAME
#
# For clients that do not trust this authority, replace http.* with certificates of a public one.
set -eu
umask 077

folder=$1
shift
names="DNS:localhost,IP:127.0.0.1"
for name in "$@"; do names="$names,DNS:$name"; done
[ -e "$folder/done" ] && exit 0

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }

sign() { # NAME WHOSE USAGE
    new_key "$folder/$1.key"
    openssl req -new -key "$folder/$1.key" -subj "/CN=$2" -out "$work/$1.csr"
    printf 'subjectAltName=%s\nextendedKeyUsage=%s\nbasicConstraints=critical,CA:FALSE\n' "$names" "$3" \
        >"$work/$1.ext"
    openssl x509 -req -in "$work/$1.csr" -CA "$folder/ca.pem" -CAkey "$work/ca.key" -CAcreateserial \
        -CAserial "$work/ca.srl" -days 825 -extfile "$work/$1.ext" -out "$folder/$1.pem" 2>/dev/null
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"
new_key "$work/ca.key"
openssl req -x509 -new -key "$work/ca.key" -subj "/CN=Bridle cluster" -days 3650 -out "$folder/ca.pem" \
    -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign,cRLSign"
sign node "Bridle node" serverAuth,clientAuth
sign http "Bridle gateway" serverAuth
chmod 644 "$folder/ca.pem" "$folder/node.pem" "$folder/http.pem"
chmod 755 "$folder" # other users need ca.pem; the keys stay private
# The key of the authority is deleted: to add a node, copy node.* to it; to renew, empty the folder.
touch "$folder/done"
