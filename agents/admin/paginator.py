"""Pages of long lists."""

from typing import Any

from django.core.paginator import Paginator
from django.db import models
from django.utils.functional import cached_property


class BoundedPaginator(Paginator[Any]):
    """Counts no further than a list is read: of a million rows, people look at the newest.

    What lies beyond is found with a filter.
    """

    most_rows = 10_000

    @cached_property
    def count(self) -> int:
        """Return how many rows there are, up to the bound."""
        rows: Any = self.object_list
        if isinstance(rows, models.QuerySet):
            # Without the order, and without what is annotated: both cost time for no row.
            return rows.order_by()[: self.most_rows].count()
        return min(len(rows), self.most_rows)
