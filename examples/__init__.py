"""Programs that show benni at work; run them from the root of the repository."""
