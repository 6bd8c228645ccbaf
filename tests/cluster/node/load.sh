#!/usr/bin/env bash
# load.sh FILE.tar, or NAME:TAG ENTRYPOINT SRC=DST...: put an image into the node that
# ../shared/kube runs. Pinned, since the kubelet cleans away what no pod uses for a moment.
set -euo pipefail
KUBE_HOME=${KUBE_HOME:-/tmp/kube}
"$(dirname "$0")/../../../../shared/kube/image.sh" "$@"
node() { "$KUBE_HOME/bin/ctr" -a "$KUBE_HOME/run/containerd.sock" -n k8s.io images "$@" 2>/dev/null; }
for image in $(node ls -q); do
  node label "$image" io.cri-containerd.pinned=pinned >/dev/null
done
