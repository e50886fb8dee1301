#!/usr/bin/env bash
# Installs the agent on this node from a folder, and starts it. Run as root; running it again brings it up to date.
#
#   install.sh FOLDER
#
# FOLDER holds what docs/agent.md, "Installing", puts there: agent.toml, relight-agent.service, agent.txt (the lock, with
# hashes), relight-*.whl, and, for nodes without a way to a package index, wheels/ with what agent.txt names.
set -euo pipefail

folder="${1:?usage: install.sh FOLDER}"
root="${DESTDIR:-}" # for an image that is being built in a folder
home="$root/opt/relight"

find_python() {
    local one
    for one in python3.14 python3.13 python3.12 python3.11 python3; do
        if command -v "$one" >/dev/null && "$one" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$one"
            return
        fi
    done
    echo "relight: there is no Python 3.11 or newer with venv here; install one (dnf install python3.11, apt-get install python3-venv)" >&2
    return 1
}

python="$(find_python)"
wheel="$(find "$folder" -maxdepth 1 -name 'relight-*.whl' | sort | tail -n 1)"
if [[ -z "$wheel" ]]; then
    echo "relight: $folder holds no relight-*.whl" >&2
    exit 1
fi

from=()
if [[ -d "$folder/wheels" ]]; then
    from=(--no-index --find-links "$folder/wheels")
fi

"$python" -m venv "$home"
"$home/bin/pip" install --quiet --disable-pip-version-check --require-hashes "${from[@]}" -r "$folder/agent.txt"
"$home/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall --no-index "$wheel"

install -d -m 0755 "$root/etc/relight" "$root/etc/systemd/system"
install -m 0644 "$folder/agent.toml" "$root/etc/relight/agent.toml"
install -m 0644 "$folder/relight-agent.service" "$root/etc/systemd/system/relight-agent.service"
if [[ -n "$root" ]]; then
    systemctl --root "$root" enable relight-agent
    exit 0
fi
systemctl daemon-reload
systemctl enable relight-agent
systemctl restart relight-agent
