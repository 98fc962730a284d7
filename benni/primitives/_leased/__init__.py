"""What every primitive that hands out leases has in common: the handle and the ways to hold it."""
