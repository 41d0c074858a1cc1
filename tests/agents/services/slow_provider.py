"""A provider whose import tells where it happened."""

import threading

from agents.providers.offline import OfflineProvider

IMPORTED_IN = threading.get_ident()

__all__ = ["IMPORTED_IN", "OfflineProvider"]
