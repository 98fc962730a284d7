"""The numbers that both runs of the demo share."""

PROVIDER = "openai"
WORKERS = 4
CALLERS = 25

RETRIES = 60
RETRY_DELAY_MS = 100
"""In either run a caller tries again every 100 ms and gives up after six seconds."""
