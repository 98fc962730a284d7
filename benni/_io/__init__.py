"""The only place that waits or talks: the drivers of both colours, connections and the keeper.

It decides nothing about leases; that is in `benni._core`.
"""
