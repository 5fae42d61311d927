"""Read one patient's record from the resources that a FHIR server returned."""

from collections.abc import Iterable, Sequence

from toolmd_simplescribe import views
from toolmd_simplescribe.chart import MOST, Items
from toolmd_simplescribe.fhir.rows import Record
from toolmd_simplescribe.moments import Span
from toolmd_simplescribe.views import Item


class LiveChart(Items):
    """The items of one patient, in memory."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records

    def _newest(
        self,
        view: views.View,
        keys: Iterable[str | None] | None,
        span: Span | None,
        limit: int | None,
    ) -> list[Item]:
        most = MOST if limit is None else min(limit, MOST)
        return views.newest_of(self._records, view, keys, span, most)
