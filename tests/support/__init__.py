"""What the suites share: servers of every engine, and a world of one colour on one of them."""
