{{/* What the three roles have in common: one Deployment, autoscaler and disruption budget each. */}}

{{- define "wizard.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "wizard.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .user }}
runAsGroup: {{ .user }}
fsGroup: {{ .user }}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* Ready is what the program has tried; alive is asked with patience, as a stalled thread is the project's own to notice. */}}
{{- define "wizard.probes" -}}
startupProbe:
  httpGet: {path: /ready, port: operations}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 60
readinessProbe:
  httpGet: {path: /ready, port: operations}
  periodSeconds: 5
  timeoutSeconds: 2
  failureThreshold: 2
livenessProbe:
  httpGet: {path: /health, port: operations}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{/* By revision (pod-template-hash): pods that an upgrade is about to end must not count. */}}
{{- define "wizard.topologySpread" -}}
{{- $spread := .root.Values.topologySpread -}}
{{- range $key, $how := dict "topology.kubernetes.io/zone" $spread.zones "kubernetes.io/hostname" $spread.machines }}
{{- if $how }}
- topologyKey: {{ $key }}
  whenUnsatisfiable: {{ $how }}
  maxSkew: 1
  matchLabelKeys: [pod-template-hash]
  labelSelector:
    matchLabels: {{- include "wizard.selectorLabels" $ | nindent 6 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* (dict "root" $ "component" "gateway" "port" "players" "number" 8080 "grace" 30 "surge" 1) */}}
{{- define "wizard.deployment" -}}
{{- $values := get .root.Values (include "wizard.roleKey" .) -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "wizard.fullname" .root }}-{{ .component }}
  labels: {{- include "wizard.labels" . | nindent 4 }}
spec:
  {{- if not $values.autoscaling.enabled }}
  replicas: {{ $values.replicas }}
  {{- end }}
  selector:
    matchLabels: {{- include "wizard.selectorLabels" . | nindent 6 }}
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxSurge: {{ .surge }}, maxUnavailable: 0}
  template:
    metadata:
      labels:
        {{- include "wizard.selectorLabels" . | nindent 8 }}
        wizard/operations: "true"
      {{- with $values.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ .grace }}
      securityContext: {{- include "wizard.podSecurity" (dict "user" 10001) | nindent 8 }}
      {{- with .root.Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ include "wizard.image" .root }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: [{{ .component }}]
          env: {{- include "wizard.environment" . | nindent 12 }}
          ports:
            {{- if .port }}
            - {name: {{ .port }}, containerPort: {{ .number }}}
            {{- end }}
            - {name: operations, containerPort: 9090}
          {{- include "wizard.probes" . | nindent 10 }}
          resources: {{- toYaml $values.resources | nindent 12 }}
          securityContext: {{- include "wizard.containerSecurity" . | nindent 12 }}
          {{- if .root.Values.externalRedis.caSecret }}
          volumeMounts:
            - {name: redis-ca, mountPath: /etc/wizard/redis-ca, readOnly: true}
          {{- end }}
      {{- if .root.Values.externalRedis.caSecret }}
      volumes:
        - name: redis-ca
          secret: {secretName: {{ .root.Values.externalRedis.caSecret }}}
      {{- end }}
      {{- with include "wizard.topologySpread" . }}
      topologySpreadConstraints: {{- . | trim | nindent 8 }}
      {{- end }}
      {{- with $values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end -}}

{{/* (dict "root" $ "component" "gateway" "downSeconds" 300): slow to take away, as whoever goes has games or players to hand over. */}}
{{- define "wizard.autoscaler" -}}
{{- $autoscaling := (get .root.Values (include "wizard.roleKey" .)).autoscaling -}}
{{- if $autoscaling.enabled -}}
{{- if lt (int $autoscaling.maxReplicas) (int $autoscaling.minReplicas) -}}
{{- fail (printf "%s.autoscaling.maxReplicas: must not be below minReplicas" (include "wizard.roleKey" .)) -}}
{{- end -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "wizard.fullname" .root }}-{{ .component }}
  labels: {{- include "wizard.labels" . | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "wizard.fullname" .root }}-{{ .component }}
  minReplicas: {{ $autoscaling.minReplicas }}
  maxReplicas: {{ $autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: AverageValue, averageValue: {{ $autoscaling.targetCpu | quote }}}
  behavior:
    scaleUp:
      stabilizationWindowSeconds: 0
      policies: [{type: Pods, value: 2, periodSeconds: 30}]
    scaleDown:
      stabilizationWindowSeconds: {{ .downSeconds }}
      policies: [{type: Pods, value: 1, periodSeconds: 120}]
{{- end -}}
{{- end -}}

{{- define "wizard.disruptionBudget" -}}
{{- if .root.Values.podDisruptionBudget.enabled -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "wizard.fullname" .root }}-{{ .component }}
  labels: {{- include "wizard.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "wizard.selectorLabels" . | nindent 6 }}
{{- end -}}
{{- end -}}

{{/* A peer of a NetworkPolicy: pods of this release: (dict "root" $ "component" "gateway") */}}
{{- define "wizard.peer" -}}
- podSelector:
    matchLabels: {{- include "wizard.selectorLabels" . | nindent 6 }}
{{- end -}}

{{/* Rule for the operations port; nobody but the machine itself if no one is named. */}}
{{- define "wizard.operationsRule" -}}
{{- with .Values.networkPolicy.operationsFrom -}}
- from: {{- toYaml . | nindent 4 }}
  ports: [{port: operations, protocol: TCP}]
{{- end -}}
{{- end -}}
