"""What a key may be allowed to do."""

SCOPES = {
    "executions:read": "See executions, batches and their outputs",
    "executions:write": "Run, cancel and erase executions and batches",
    "evaluations:read": "See evaluations and their results",
    "evaluations:write": "Start, cancel and retry evaluations",
    "usage:read": "See usage and what is left",
    "webhooks:read": "See webhook endpoints and deliveries",
    "webhooks:write": "Make, change and remove webhook endpoints",
}
