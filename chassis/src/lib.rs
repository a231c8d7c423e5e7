//! What every process of Wizard has: telemetry, readiness, operations port, shutdown.
