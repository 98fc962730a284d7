"""The distributed semaphore: at most `limit` permits of an id are held at once, anywhere."""
