"""A provider with a hard limit of 20, driven by four processes, without benni and with it."""
