{{/* Names and labels of everything. */}}

{{- define "wizard.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What never changes of an object, so that it can select: (dict "root" $ "component" "gateway") */}}
{{- define "wizard.selectorLabels" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "wizard.labels" -}}
{{ include "wizard.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Whose pods have an operations port and share the secrets. */}}
{{- define "wizard.everyRole" -}}
matchLabels:
  app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
  app.kubernetes.io/instance: {{ .Release.Name }}
matchExpressions:
  - {key: app.kubernetes.io/component, operator: In, values: [gateway, game-node, ai-node]}
{{- end -}}

{{/* The values of a role: (dict "root" $ "component" "game-node") */}}
{{- define "wizard.roleKey" -}}
{{- get (dict "gateway" "gateway" "game-node" "gameNode" "ai-node" "aiNode") .component -}}
{{- end -}}

{{- define "wizard.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "wizard.secretName" -}}
{{- default (include "wizard.fullname" .) .Values.secrets.existingSecret -}}
{{- end -}}
