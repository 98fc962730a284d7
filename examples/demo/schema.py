"""What the demo's workers share: 20 slots at the provider, each leased for a second."""

from benni.schema import semaphore

slots = semaphore("provider", limit=20, lease_ms=1_000)
