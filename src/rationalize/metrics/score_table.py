"""All numbers of a split, each under a name that identifies its definition.

Names are a contract with the table's readers:

- `task_f1_weighted`, `task_accuracy`: from the label that the method decides on; `…_full_text`, `…_rationale` and
  `…_query`: from its label on the whole text, on the rationale alone, and on the query with an empty text; `…_bag`:
  from a bag of words trained on the same examples. Each example counts once.
- `token_f1_eraser`, `token_p_eraser`, `token_r_eraser`: ERASER's macro over documents; `…_micro`: pooled.
- `token_f1_micro_piece` (`token_p_…`, `token_r_…`): SSR's, over word pieces.
- `span_f1_exact`, `iou_f1_eraser@0.5` (may exceed 1), `iou_f1_1to1@0.5`: macro.
- `auprc`, `average_precision`, `roc_auc`: documents without gold are skipped (`n_gold_free_skipped`).
- `selected_fraction`, `selected_fraction/<gold label>`, `gold_fraction`: of the words of full documents,
  pooled (`gold_fraction`: annotated ones); `selected_fraction_read`: of the words that the model read.
- `shortcut_share`, `shortcut_text_share`, `shortcut_recall`: where shortcuts are known.
- `n_…`: counts. `gold_lost_to_truncation`: share of the gold words that the model never read.

None: the number is undefined on this input. Documents without annotation count in task scores and selected shares,
but not in scores against gold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import compress

from rationalize.errors import DataError
from rationalize.metrics.instance import ScoredInstance
from rationalize.metrics.named_metrics import TrivialRow
from rationalize.metrics.sections import (
    Instances,
    MetricRow,
    count_row,
    gold_fraction,
    gold_row,
    selected_fraction,
    selected_fraction_read,
    share_row,
    task_row,
)
from rationalize.metrics.selectors import SELECTORS, top_share, trivial_mask, trivial_scores

DEFAULT_SHARE = 0.1


def score(
    instances: Iterable[ScoredInstance], *, faithfulness: Mapping[str, float | None] | None = None
) -> MetricRow:
    """Compute every number of a split by name; None if undefined, never NaN or infinite.

    Args:
        instances: One per (example, document); a pair given twice is refused.
        faithfulness: Numbers of `faithfulness_row`, added as they are; absent if not given.
    """
    rows = _unique(instances)
    table = {**task_row(rows), **selection_row(rows), **(faithfulness or {})}
    return {name: value if value is None or math.isfinite(value) else None for name, value in table.items()}


def selection_row(instances: Instances) -> MetricRow:
    """Compute the numbers that do not depend on predicted labels."""
    return {**gold_row(instances), **share_row(instances), **count_row(instances)}


def trivial_rows(
    instances: Iterable[ScoredInstance], share: float | None = None, seed: int = 0
) -> dict[str, TrivialRow]:
    """Score the trivial selectors, which ignore the text: `all`, `random`, `first` and `last`.

    They select the model's own share of every document (at least one word), over the full document. For
    `token_f1_micro_piece`, which counts only pieces that the model saw, they select the model's share of the words
    that it read, which is larger if a text was cut off. (`all`: every piece given, which scores 2g / (1 + g); in an
    evaluation these are the document pieces that were read, without specials and query.) Ranking scores use each
    selector's own ranking of all words, those beyond a cut too, where a model's scores are all 0.

    Rows record the `share` used and its source: `share_from` is "given", "model", or, if the model selected
    nothing, "gold" or "default" (0.1); "all" for the row that selects everything.
    """
    rows = _unique(instances)
    of_pieces = share if share is not None else selected_fraction_read(rows)
    share, source = _share(rows, share)
    table: dict[str, TrivialRow] = {}
    for selector in SELECTORS:
        used, origin = (1.0, "all") if selector == "all" else (share, source)
        pieces = used if selector == "all" or not of_pieces else of_pieces
        chosen = [_reselect(each, selector, used, pieces, seed) for each in rows]
        table[selector] = TrivialRow(selection_row(chosen), used, origin)
    return table


def _share(instances: Instances, given: float | None) -> tuple[float, str]:
    if given is not None:
        return given, "given"
    if own := selected_fraction(instances):
        return own, "model"
    if gold := gold_fraction(instances):
        return gold, "gold"
    return DEFAULT_SHARE, "default"


def _reselect(
    instance: ScoredInstance, selector: str, share: float, of_pieces: float, seed: int
) -> ScoredInstance:
    scores = trivial_scores(selector, instance.n_words, seed=seed, key=(instance.id, instance.document))
    return replace(
        instance,
        selected=top_share(scores, share),
        scores=None if instance.scores is None else tuple(scores),
        piece_selected=_reselect_pieces(instance, selector, of_pieces, seed),
    )


def _reselect_pieces(one: ScoredInstance, selector: str, share: float, seed: int) -> tuple[int, ...] | None:
    if one.piece_selected is None:
        return None
    n = len(one.piece_selected)
    free = one.piece_selectable is None or selector == "all"
    places = [*range(n)] if free else [*compress(range(n), one.piece_selectable or ())]
    mask = trivial_mask(selector, len(places), share, seed=seed, key=(one.id, one.document, "pieces"))
    chosen = {*compress(places, mask)}
    return tuple(int(place in chosen) for place in range(n))


def _unique(instances: Iterable[ScoredInstance]) -> list[ScoredInstance]:
    rows = list(instances)
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if (row.id, row.document) in seen:
            raise DataError(f"{row.name}: given twice. Give every document of every example once.")
        seen.add((row.id, row.document))
    return rows
