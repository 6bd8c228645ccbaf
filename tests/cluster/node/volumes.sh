#!/usr/bin/env bash
# volumes.sh N: make N empty volumes on the disk of the node that ../shared/kube runs, of a storage
# class that claims without a class get. volumes.sh 0: remove the class and all of its volumes.
set -euo pipefail
ROOT=/var/lib/triplemesh/volumes
kubectl delete persistentvolume -l triplemesh.dev/volume=test --ignore-not-found >/dev/null
kubectl delete storageclass test --ignore-not-found >/dev/null
rm -rf "$ROOT"
[ "$1" -gt 0 ] || exit 0
{
  cat <<'K'
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: test
  annotations: {storageclass.kubernetes.io/is-default-class: "true"}
provisioner: kubernetes.io/no-provisioner
K
  for i in $(seq "$1"); do
    install -d -o 65532 -g 65532 "$ROOT/$i"
    cat <<K
---
apiVersion: v1
kind: PersistentVolume
metadata:
  name: test-$i
  labels: {triplemesh.dev/volume: test}
spec:
  storageClassName: test
  accessModes: [ReadWriteOnce, ReadWriteMany]
  capacity: {storage: 100Gi}
  hostPath: {path: $ROOT/$i, type: Directory}
K
  done
} | kubectl apply -f - >/dev/null
