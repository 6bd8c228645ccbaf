{{/*
The chart has no manifests of its own: files/base and files/components are those of deploy/k8s.
The definitions below apply a component's patches as kustomize does (docs/adr/0038-chart.md).
A definition that changes its argument prints nothing.
*/}}

{{/* Returns the objects of a file of several YAML documents, as {items: […]}. */}}
{{- define "triplemesh.read" -}}
{{- $items := list }}
{{- range regexSplit "(?m)^---$" (.files.Get .path | required (printf "%s is missing" .path)) -1 }}
{{- with fromYaml . }}{{ $items = append $items . }}{{ end }}
{{- end }}
{{- dict "items" $items | toYaml }}
{{- end }}

{{/* Merges .from into .into: maps by key, lists of named items by name, other values by replacement. */}}
{{- define "triplemesh.merge" -}}
{{- $into := .into }}
{{- range $key, $value := .from }}
{{- $old := get $into $key }}
{{- if and (kindIs "map" $value) (kindIs "map" $old) }}
{{- include "triplemesh.merge" (dict "into" $old "from" $value) }}
{{- else if and (kindIs "slice" $value) (kindIs "slice" $old) (kindIs "map" (first $value)) (hasKey (first $value | default dict) "name") }}
{{- range $item := $value }}
{{- $same := dict }}
{{- range $o := get $into $key }}{{ if eq (toString $o.name) (toString $item.name) }}{{ $same = $o }}{{ end }}{{ end }}
{{- if $same }}{{ include "triplemesh.merge" (dict "into" $same "from" $item) }}
{{- else }}{{ $_ := set $into $key (append (get $into $key) $item) }}{{ end }}
{{- end }}
{{- else if kindIs "invalid" $value }}{{ $_ := unset $into $key }}
{{- else if or (kindIs "map" $value) (kindIs "slice" $value) }}{{ $_ := set $into $key (deepCopy $value) }}
{{- else }}{{ $_ := set $into $key $value }}
{{- end }}
{{- end }}
{{- end }}

{{/* Applies the operation .op of a JSON patch to .object; the last part of its path is a key or "-". */}}
{{- define "triplemesh.operate" -}}
{{- $at := .object }}{{ $holder := dict }}{{ $key := "" }}
{{- $parts := splitList "/" (trimPrefix "/" .op.path) }}
{{- range initial $parts }}
{{- if kindIs "slice" $at }}{{ $at = index $at (int .) }}
{{- else }}{{ $holder = $at }}{{ $key = . }}{{ $at = get $at . }}{{ end }}
{{- end }}
{{- if kindIs "slice" $at }}{{ $_ := set $holder $key (append $at .op.value) }}
{{- else if eq .op.op "remove" }}{{ $_ := unset $at (last $parts) }}
{{- else }}{{ $_ := set $at (last $parts) .op.value }}
{{- end }}
{{- end }}

{{/* Applies .patch of a kustomization in the directory .dir to the objects that its target selects. */}}
{{- define "triplemesh.patch" -}}
{{- $patch := .patch }}
{{- $text := $patch.patch | default "" }}
{{- if $patch.path }}{{ $text = .files.Get (printf "%s/%s" .dir $patch.path) }}{{ end }}
{{- range $object := .objects }}
{{- $selected := eq (get $patch.target "kind" | default $object.kind) $object.kind }}
{{- with get $patch.target "name" }}{{ $selected = and $selected (regexMatch (printf "^(%s)$" .) $object.metadata.name) }}{{ end }}
{{- with get $patch.target "labelSelector" }}
{{- $pair := splitList "=" . }}
{{- $selected = and $selected (eq (get ($object.metadata.labels | default dict) (first $pair)) (last $pair)) }}
{{- end }}
{{- if $selected }}
{{- if hasPrefix "- " $text }}
{{- range fromYamlArray $text }}{{ include "triplemesh.operate" (dict "object" $object "op" .) }}{{ end }}
{{- else }}
{{- include "triplemesh.merge" (dict "into" $object "from" (omit (fromYaml $text) "metadata")) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Prints the objects of the kustomization in .dir, with its labels and ConfigMaps, as {items: […]}. */}}
{{- define "triplemesh.load" -}}
{{- $files := .files }}{{ $dir := .dir }}
{{- $kustomization := $files.Get (printf "%s/kustomization.yaml" $dir) | required (printf "there is no component %s" (base $dir)) | fromYaml }}
{{- $items := list }}
{{- range $kustomization.resources }}
{{- $items = concat $items (include "triplemesh.read" (dict "files" $files "path" (printf "%s/%s" $dir .)) | fromYaml).items }}
{{- end }}
{{- range $kustomization.configMapGenerator }}
{{- $data := dict }}
{{- range .literals }}{{ $pair := regexSplit "=" . 2 }}{{ $_ := set $data (first $pair) (last $pair) }}{{ end }}
{{- range .files }}
{{- $pair := regexSplit "=" . 2 }}
{{- $_ := set $data (first $pair) ($files.Get (printf "%s/%s" $dir (last $pair))) }}
{{- end }}
{{- $map := dict "apiVersion" "v1" "kind" "ConfigMap" "metadata" (dict "name" .name) "data" $data }}
{{- with dig "options" "labels" "" . }}{{ $_ := set $map.metadata "labels" . }}{{ end }}
{{- $items = append $items $map }}
{{- end }}
{{- range $labels := $kustomization.labels }}
{{- range $items }}
{{- include "triplemesh.merge" (dict "into" .metadata "from" (dict "labels" $labels.pairs)) }}
{{- if and $labels.includeTemplates (dig "spec" "template" "" .) }}
{{- include "triplemesh.merge" (dict "into" .spec.template.metadata "from" (dict "labels" $labels.pairs)) }}
{{- end }}
{{- end }}
{{- end }}
{{- dict "items" $items "patches" ($kustomization.patches | default list) | toYaml }}
{{- end }}
