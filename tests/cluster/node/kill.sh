#!/usr/bin/env bash
# kill.sh ID: end a container of the node that ../shared/kube runs without
# warning, as a crash would.
set -euo pipefail
KUBE_HOME=${KUBE_HOME:-/tmp/kube}
exec "$KUBE_HOME/bin/ctr" -a "$KUBE_HOME/run/containerd.sock" -n k8s.io tasks kill -s SIGKILL "$1"
