{{/* What the program is told by its environment. */}}

{{/* YAML makes every number a floating one, and large ones would get an exponent. */}}
{{- define "wizard.text" -}}
{{- if and (kindIs "float64" .) (eq (. | toString | float64) (. | int64 | float64)) -}}
{{- . | int64 | toString -}}
{{- else -}}
{{- . | toString -}}
{{- end -}}
{{- end -}}

{{/* Wherever from: every address of the pod. */}}
{{- define "wizard.anywhere" -}}
{{- ternary "[::]" "0.0.0.0" .Values.ipv6 -}}
{{- end -}}

{{/* Pages that may connect are those of the Ingress, unless the values say something else. */}}
{{- define "wizard.allowedOrigins" -}}
{{- $origins := list -}}
{{- range .Values.ingress.hosts -}}
{{- $origins = append $origins (printf "https://%s" .) -}}
{{- if not $.Values.ingress.tlsSecret -}}
{{- $origins = append $origins (printf "http://%s" .) -}}
{{- end -}}
{{- end -}}
{{- join "," $origins -}}
{{- end -}}

{{/* The variables of a role whose values can be read by everybody, as a map. */}}
{{- define "wizard.variables" -}}
{{- $values := .root.Values -}}
{{- $own := dict
  "OPS_ADDR" (printf "%s:9090" (include "wizard.anywhere" .root))
  "DRAIN_TIMEOUT" (printf "%ds" (int $values.drainSeconds))
  "READY_TIMEOUT" (printf "%ds" (int $values.readySeconds))
  "LOG_FORMAT" "json" -}}
{{- $address := ternary "[$(POD_IP)]" "$(POD_IP)" $values.ipv6 -}}
{{- if eq .component "gateway" -}}
{{- $_ := set $own "LISTEN_ADDR" (printf "%s:8080" (include "wizard.anywhere" .root)) -}}
{{- $_ := set $own "ADVERTISE_ADDR" (printf "%s:8080" $address) -}}
{{- with $values.gateway.trustedProxies -}}
{{- $_ := set $own "TRUSTED_PROXIES" (join "," .) -}}
{{- end -}}
{{- if $values.ingress.enabled -}}
{{- $_ := set $own "ALLOWED_ORIGINS" (include "wizard.allowedOrigins" .root) -}}
{{- end -}}
{{- else if eq .component "game-node" -}}
{{- $_ := set $own "LISTEN_ADDR" (printf "%s:7000" (include "wizard.anywhere" .root)) -}}
{{- $_ := set $own "ADVERTISE_ADDR" (printf "%s:7000" $address) -}}
{{- end -}}
{{- $given := merge (dict) (get $values (include "wizard.roleKey" .)).config $values.config -}}
{{- range $name, $value := $given -}}
{{- $_ := set $own $name (include "wizard.text" $value) -}}
{{- end -}}
{{- toYaml $own -}}
{{- end -}}

{{/* The whole environment of a role's container: (dict "root" $ "component" "gateway") */}}
{{- define "wizard.environment" -}}
- name: NODE_ID
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
{{- if ne .component "ai-node" }}
- name: POD_IP
  valueFrom: {fieldRef: {fieldPath: status.podIP}}
{{- end }}
{{- range $name, $value := include "wizard.variables" . | fromYaml }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
- name: REDIS_URL
  valueFrom:
    secretKeyRef:
      {{- if .root.Values.redis.enabled }}
      name: {{ include "wizard.fullname" .root }}-redis
      key: redis-url
      {{- else }}
      name: {{ .root.Values.externalRedis.existingSecret }}
      key: {{ .root.Values.externalRedis.key }}
      {{- end }}
{{- if ne .component "ai-node" }}
- name: GATEWAY_SHARED_SECRET
  valueFrom: {secretKeyRef: {name: {{ include "wizard.secretName" .root }}, key: gateway-shared-secret}}
{{- end }}
{{- if ne .component "gateway" }}
- name: AI_SHARED_SECRET
  valueFrom: {secretKeyRef: {name: {{ include "wizard.secretName" .root }}, key: ai-shared-secret}}
{{- end }}
{{- if eq .component "gateway" }}
- name: OPERATOR_TOKEN
  valueFrom: {secretKeyRef: {name: {{ include "wizard.secretName" .root }}, key: operator-token}}
{{- end }}
{{- if .root.Values.externalRedis.caSecret }}
- name: SSL_CERT_FILE
  value: /etc/wizard/redis-ca/{{ .root.Values.externalRedis.caKey }}
{{- end }}
{{- end -}}
