#!/usr/bin/env bash
# A step of HyperPod's lifecycle scripts (Slurm): call it from on_create.sh, which runs as root on each new node. Put this
# file and the folder relight/ (what docs/agent.md, "Installing", makes) beside on_create.sh under SourceS3Uri.
#
# A lifecycle script that fails costs the instance, so this one never does. Where HyperPod's orchestrator is EKS nothing
# is installed here: daemonset.yaml is.
#
# Source: SageMaker guide, "Customize SageMaker HyperPod clusters using lifecycle scripts", and ClusterLifeCycleConfig in
# its API reference (SourceS3Uri, whose bucket is named sagemaker-..., and OnCreate).
set -uo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
folder="${RELIGHT_FOLDER:-$here/relight}"
log="${RELIGHT_INSTALL_LOG:-/var/log/relight-install.log}"

if command -v kubelet >/dev/null; then
    echo "relight: this node belongs to EKS; the agent comes with daemonset.yaml"
    exit 0
fi
if [[ ! -d "$folder" ]]; then
    echo "relight: $folder is not there; the agent is not installed" >&2
    exit 0
fi
if bash "$folder/install.sh" "$folder" >>"$log" 2>&1; then
    echo "relight: the agent runs"
else
    echo "relight: the agent could not be installed; see $log" >&2
fi
exit 0
