#!/usr/bin/env bash
# policies.sh start: have kube-router, built by programs.sh, enforce NetworkPolicies on the node that
# ../shared/kube runs. policies.sh stop: end that. Needs ipset.
set -euo pipefail
RUN=${KUBE_HOME:-/tmp/kube}/run
PROGRAM=$(cd "$(dirname "$0")/../../../.cache/programs" && pwd)/kube-router
# Whether the firewall sees what pods of one node, which meet on a bridge, say to each other.
BRIDGED=/proc/sys/net/bridge/bridge-nf-call-iptables
case $1 in
start)
  command -v ipset >/dev/null || { echo "policies.sh: ipset is missing: apt-get install ipset" >&2; exit 1; }
  cat $BRIDGED >"$RUN/bridged"
  echo 1 >$BRIDGED
  setsid nohup "$PROGRAM" --run-firewall --run-router=false --run-service-proxy=false --kubeconfig="$KUBECONFIG" \
    --hostname-override=node1 --health-port=0 >"$RUN/kube-router.log" 2>&1 </dev/null &
  echo $! >"$RUN/kube-router.pid"
  ;;
stop)
  kill "$(cat "$RUN/kube-router.pid")"
  # It removes its rules first, and fails for want of IPVS then.
  "$PROGRAM" --cleanup-config >>"$RUN/kube-router.log" 2>&1 || true
  cat "$RUN/bridged" >$BRIDGED
  ;;
esac
