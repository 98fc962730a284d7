"""What the scripts run on."""

from __future__ import annotations

from typing import Any

import pytest
from lua.pools import Pool


@pytest.fixture
def pool(server: Any) -> Pool:
    """Lend an empty pool on every engine."""
    return Pool(server.admin)
