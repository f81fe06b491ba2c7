"""Search for a model's settings: a sampler proposes, validation rows decide, a file remembers the trials."""

from typing import TYPE_CHECKING

from recgauge.utils.lazy import lazy_names

if TYPE_CHECKING:
    from recgauge.search.trials import Pruned as Pruned
    from recgauge.search.trials import Search as Search
    from recgauge.search.trials import Trial as Trial
else:
    __getattr__, __dir__ = lazy_names(__name__)
