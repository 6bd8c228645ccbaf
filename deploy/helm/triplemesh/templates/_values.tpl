{{/* Returns the values of ConfigMaps that are set, by name and key. */}}
{{- define "triplemesh.data" -}}
{{- $all := dict
  "triplemesh-model" (dict "base-url" .Values.model.baseURL "model" .Values.model.name "max-in-flight" .Values.model.maxInFlight)
  "triplemesh-jwt" (dict "issuer" .Values.jwt.issuer "jwks-url" .Values.jwt.jwksURL "audience" .Values.jwt.audience
    "tenant-claim" .Values.jwt.tenantClaim "scope-claim" .Values.jwt.scopeClaim)
  "triplemesh-quotas" (dict "quotas" (ternary (toJson .Values.quotas) "" (not (empty .Values.quotas))) "shared" .Values.sharedTenant)
  "triplemesh-neo4j" (dict "graphs" (ternary (toJson .Values.neo4j.graphs) "" (not (empty .Values.neo4j.graphs)))) }}
{{- if index .Values.components "model-server-vllm" }}
{{- $_ := set $all "model-server" (dict "model" .Values.model.name) }}
{{- end }}
{{- range $name, $data := $all }}
{{- range $key, $value := $data }}
{{- if $value }}{{ $_ := set $data $key (toString $value) }}{{ else }}{{ $_ := unset $data $key }}{{ end }}
{{- end }}
{{- end }}
{{- toYaml $all }}
{{- end }}

{{/* Returns the patches that values stand for, by kind and name. */}}
{{- define "triplemesh.patches" -}}
{{- $all := dict }}
{{- range $stage, $value := .Values.stages }}
{{- $container := dict "name" "stage" }}
{{- with $value.resources }}{{ $_ := set $container "resources" . }}{{ end }}
{{- if $value.env }}
{{- $env := list }}
{{- range $name, $text := $value.env }}{{ $env = append $env (dict "name" $name "value" (toString $text)) }}{{ end }}
{{- $_ := set $container "env" $env }}
{{- end }}
{{- $pod := dict "containers" (list $container) }}
{{- range list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- if get $value . }}{{ $_ := set $pod . (get $value .) }}{{ end }}
{{- end }}
{{- $spec := dict "template" (dict "spec" $pod) }}
{{- if $value.replicas }}{{ $_ := set $spec "replicas" $value.replicas }}{{ end }}
{{- $_ := set $all (printf "Deployment/%s" $stage) (dict "spec" $spec) }}
{{- end }}
{{- range $name, $claim := .Values.storage }}
{{- $spec := dict "accessModes" $claim.accessModes "resources" (dict "requests" (dict "storage" $claim.size)) }}
{{- with $claim.storageClass }}{{ $_ := set $spec "storageClassName" . }}{{ end }}
{{- $_ := set $all (printf "PersistentVolumeClaim/triplemesh-%s" $name) (dict "spec" $spec) }}
{{- end }}
{{- with .Values.host }}
{{- $_ := set $all "GRPCRoute/triplemesh" (dict "spec" (dict "hostnames" (list .))) }}
{{- end }}
{{- if .Values.gateway.name }}
{{- $route := get $all "GRPCRoute/triplemesh" | default (dict "spec" dict) }}
{{- $_ := set $route.spec "parentRefs" (list .Values.gateway) }}
{{- $_ := set $all "GRPCRoute/triplemesh" $route }}
{{- end }}
{{- toYaml $all }}
{{- end }}

{{/* Sets what depends on the release: images, namespace, checksum of the configuration, host of the Ingress,
and that claims outlive the release. */}}
{{- define "triplemesh.adapt" -}}
{{- $object := .object }}{{ $values := .root.Values }}{{ $root := .root }}
{{- range dig "subjects" list $object }}{{ $_ := set . "namespace" $root.Release.Namespace }}{{ end }}
{{- if dig "spec" "claimRef" "" $object }}{{ $_ := set $object.spec.claimRef "namespace" $root.Release.Namespace }}{{ end }}
{{- if eq $object.kind "PersistentVolumeClaim" }}
{{- include "triplemesh.merge" (dict "into" $object.metadata "from" (dict "annotations" (dict "helm.sh/resource-policy" "keep"))) }}
{{- end }}
{{- if and (eq $object.kind "Ingress") $values.host }}
{{- range $object.spec.tls }}{{ $_ := set . "hosts" (list $values.host) }}{{ end }}
{{- range $object.spec.rules }}{{ $_ := set . "host" $values.host }}{{ end }}
{{- end }}
{{- if eq (dig "metadata" "labels" "app.kubernetes.io/component" "" $object) "stage" }}
{{- $template := $object.spec.template }}
{{- $_ := set $template.metadata.annotations "checksum/config" (sha256sum .configuration) }}
{{- with $values.imagePullSecrets }}{{ $_ := set $template.spec "imagePullSecrets" . }}{{ end }}
{{- range $template.spec.containers }}
{{- $_ := set . "image" (include "triplemesh.image" (dict "name" (.image | base | splitList ":" | first) "root" $root)) }}
{{- $_ := set . "imagePullPolicy" $values.image.pullPolicy }}
{{- end }}
{{- end }}
{{- end }}

{{- define "triplemesh.image" -}}
{{ .root.Values.image.repository }}/{{ .name }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}
