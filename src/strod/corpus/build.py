"""Text → corpus, in two passes: one over the text, one over the ids it became."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq

from strod.corpus.duplicates import repeated
from strod.corpus.ingest import ingest
from strod.corpus.intake import Account, batches
from strod.corpus.lexicon import Lexicon, build_lexicon, unspaced_share
from strod.corpus.metadata import NULL, field_type
from strod.corpus.segment import Kept, WrittenSegment, write_segment
from strod.corpus.spill import SpillReader
from strod.corpus.survey import surveyed
from strod.engine.make import make_engine
from strod.errors import InputError
from strod.store.schema import CorpusRecord, SegmentRecord
from strod.text.vocabulary import background
from strod.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.options import CorpusOptions
    from strod.progress import Progress
    from strod.text.sources import Source

__all__ = ["BuiltCorpus", "build_corpus"]

BACKGROUND_WORDS = 30  # reported


@dataclass(frozen=True)
class BuiltCorpus:
    """What the manifest and the report say about a new corpus."""

    about: CorpusRecord
    report: dict[str, Any]


def build_corpus(
    root: Path,
    parts: list[Source],
    options: CorpusOptions,
    progress: Progress,
    *,
    allow_empty: bool = False,
    before: int = 0,
    same_ids: bool = False,
) -> BuiltCorpus:
    """Read `parts` and write ``corpus/`` into the folder `root`.

    A corpus without a word for the model, or without the metadata that was asked for, is an
    error unless `allow_empty`; a second document
    with the same id is rejected unless `same_ids`. Documents without an id are numbered from
    `before` + 1 on.
    """
    spilled = root / "spill"
    account = Account(parts, strict=options.strict)
    progress.stage("reading", sum(part.size for part in parts), "bytes")
    segment_folder = root / "corpus" / "0000"
    segment_folder.mkdir(parents=True)
    fields = options.fields
    source = batches(parts, fields, account, progress.advance, before)
    if not allow_empty:
        source = surveyed(source, options.meta_types, fields, parts)
    ingested = ingest(source, options, spilled, segment_folder / "texts.arrow")
    unseen = [name for name in fields.text if len(fields.text) > 1 and name not in fields.seen]
    if unseen and account.accepted:
        raise InputError(f"no document has the text field {unseen[0]!r}; see `text_field`")
    account.check_usable()
    spill = SpillReader(spilled)
    out, numbered, duplicates = _rejected(spill, options, account, same_ids=same_ids)
    lexicon = build_lexicon(spill, spilled, ingested.epochs, out, options)
    if not allow_empty:
        _check_vocabulary(lexicon, account)
    unspaced = unspaced_share(spilled, ingested.epochs) if options.tokenizer == "words" else 0.0
    types = [
        (name, field_type(kinds) if kind == "auto" else kind)
        for (name, kind), kinds in zip(options.meta_types, ingested.kinds, strict=True)
    ]
    progress.stage("counting", account.accepted, "documents")
    mixed = not numbered.all() and bool(numbered.any())
    kept = Kept(spill, out, lexicon.number_of, lexicon.columns, types, mixed)
    with make_engine(options.engine, options.threads) as engine:
        segment = write_segment(segment_folder, kept, engine, progress)
    path = root / "corpus" / "lexicon.parquet"
    pq.write_table(lexicon.table, path, compression="zstd")
    shutil.rmtree(spilled)
    described = _described(
        options, lexicon, segment, ingested.text_blocks, types, account, duplicates
    )
    described.report["unspaced_share"] = round(unspaced, 4)
    described.report["metadata_missing"] = [
        name for (name, _), kinds in zip(types, ingested.kinds, strict=True) if kinds <= {NULL}
    ]
    return described


def _rejected(
    spill: SpillReader, options: CorpusOptions, account: Account, *, same_ids: bool
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], int]:
    """Which documents are out, which have no id, and how many repeat the text of another."""
    out, numbered = np.zeros((2, spill.size), dtype=bool)
    for block in spill:
        numbered[block.first : block.first + block.rows.size] = block.rows["numbered"]
        wordless = np.flatnonzero(block.rows["tokens"] == 0)
        out[block.first + wordless] = True
        account.reject_rows(block.rows[wordless], "no words")
    account.check_usable()
    if not same_ids:
        _drop(spill, out, repeated(spill, "id_digest", out | numbered), account, "duplicate id")
    copies = repeated(spill, "text_digest", out)
    if options.duplicates == "drop":
        _drop(spill, out, copies, account, "duplicate text", wanted=True)
    return out, numbered, copies.size


def _drop(
    spill: SpillReader,
    out: NDArray[np.bool_],
    rows: NDArray[np.int64],
    account: Account,
    reason: str,
    *,
    wanted: bool = False,
) -> None:
    out[rows] = True
    for block in spill:
        first, end = np.searchsorted(rows, [block.first, block.first + block.rows.size])
        account.reject_rows(block.rows[rows[first:end] - block.first], reason, wanted=wanted)


def _check_vocabulary(lexicon: Lexicon, account: Account) -> None:
    if lexicon.columns.max(initial=-1) < 0:
        words = len(lexicon.table)
        raise InputError(
            f"no word is left for the model: {counted(account.accepted, 'document')}, "
            f"{counted(words, 'word')} in at least {lexicon.min_df} of them, all of them stop "
            "words or too frequent; lower `min_df`, raise `max_df` or choose another `language`"
        )


def _described(
    options: CorpusOptions,
    lexicon: Lexicon,
    segment: WrittenSegment,
    text_blocks: list[int],
    types: list[tuple[str, str]],
    account: Account,
    duplicates: int,
) -> BuiltCorpus:
    model = lexicon.table.filter(lexicon.table["column"].to_numpy() >= 0)
    written = SegmentRecord(
        name="0000", boundaries=tuple(segment.boundaries), text_blocks=tuple(text_blocks)
    )
    about = CorpusRecord(
        documents=segment.documents,
        tokens=segment.tokens,
        vocabulary=len(model),
        lexicon=len(lexicon.table),
        meta=dict(types),
        segments=(written,),
        settings=options.settings(lexicon.min_df),
    )
    frequent = background(
        model["documents"].to_numpy(), model["occurrences"].to_numpy(), segment.documents
    )
    report = {
        "documents": account.summary() | {"duplicate_texts": duplicates},
        "background_words": model["surface"].take(frequent[:BACKGROUND_WORDS]).to_pylist(),
        "metadata_misfits": dict(zip(dict(types), segment.misfits, strict=True)),
    }
    return BuiltCorpus(about, report)
