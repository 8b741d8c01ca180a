"""Cutting documents into phrases and words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.model.placed import Ref
    from strod.phrases.contexts import Occurrences
    from strod.phrases.segmentation import Segmenter
    from strod.phrases.stream import TokenShard

__all__ = ["cut"]


def cut(
    ref: Ref[TokenShard], segmenter: Segmenter, unit_of: NDArray[np.int32], units: int
) -> tuple[csr_array, Occurrences]:
    """Documents by units, and where the phrases stand."""
    return segmenter.counts(ref.open(), unit_of, units)
