#!/usr/bin/env bash
# User data of an EC2 instance, or a part of it: fetches the agent from S3 and starts it. The instance's role may read
# the bucket. That it fails does not fail the instance: a node without the agent trains all the same, and Relight's sweep
# says which nodes it never heard of.
set -uo pipefail

bundle="${RELIGHT_BUNDLE:-s3://EXAMPLE-BUCKET/relight}" # what docs/agent.md, "Installing", puts there
folder="$(mktemp -d)"

install_relight() {
    aws s3 cp --recursive --only-show-errors "$bundle" "$folder" && bash "$folder/install.sh" "$folder"
}

if install_relight >>/var/log/relight-install.log 2>&1; then
    echo "relight: the agent runs"
else
    echo "relight: the agent could not be installed; see /var/log/relight-install.log" >&2
fi
rm -rf "$folder"
