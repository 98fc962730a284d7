"""What the figures in the docs come from; `python -m bench` runs it from the repository's root."""
