"""Decisions only.

1. Nothing in this package imports redis, asyncio, threading, time or random, or does I/O.
2. What it needs of the world (the time, a token, a reply) is passed in or asked for by yielding
   one of the values of `effects`.

`tests/meta` holds it to both.
"""
