"""Text → corpus, in two passes: one over the text, one over the ids it became."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq

from strod.corpus.duplicates import repeated
from strod.corpus.ingest import ingest
from strod.corpus.intake import Account, batches
from strod.corpus.lexicon import Lexicon, build_lexicon, unspaced_share
from strod.corpus.metadata import DATE, NULL, NUMBER, NUMERAL, field_type, nearly
from strod.corpus.segment import Kept, WrittenSegment, write_segment
from strod.corpus.spill import SpillReader
from strod.corpus.survey import Survey, shown
from strod.engine.make import make_engine
from strod.errors import InputError
from strod.store.schema import CorpusRecord, SegmentRecord
from strod.text.vocabulary import background
from strod.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from strod.options import CorpusOptions
    from strod.progress import Progress
    from strod.text.forms import MetaField
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
    as_given: bool = False,
) -> BuiltCorpus:
    """Read `parts` and write ``corpus/`` into the folder `root`.

    A corpus without a word for the model, or without the metadata that was asked for, is an
    error unless `allow_empty`; a second document with the same id, and one without words, is
    rejected unless they are taken `as_given`. Documents without an id are numbered from
    `before` + 1 on.
    """
    spilled = root / "spill"
    account = Account(parts, strict=options.strict)
    progress.stage("reading", sum(part.size for part in parts), "bytes")
    segment_folder = root / "corpus" / "0000"
    segment_folder.mkdir(parents=True)
    fields = replace(options.fields, blank=as_given)
    source = batches(parts, fields, account, progress.advance, before)
    survey = Survey(options.meta_types, fields, parts)
    if not allow_empty:
        source = survey.passing(source)
    ingested = ingest(source, options, spilled, segment_folder / "texts.arrow")
    unseen = [name for name in fields.text if len(fields.text) > 1 and name not in fields.seen]
    if unseen and account.accepted:
        raise InputError(f"no document has the text field {unseen[0]!r}; see `text_field`")
    account.check_usable()
    spill = SpillReader(spilled)
    out, numbered, duplicates = _rejected(spill, options, account, as_given=as_given)
    lexicon = build_lexicon(spill, spilled, ingested.epochs, out, options)
    if not allow_empty:
        _check_vocabulary(lexicon, account)
    unspaced = unspaced_share(spilled, ingested.epochs) if options.tokenizer == "words" else 0.0
    types = [
        field._replace(kind=field_type(kinds)) if field.kind == "auto" else field
        for field, kinds in zip(options.meta_types, ingested.kinds, strict=True)
    ]
    progress.stage("counting", account.accepted, "documents")
    mixed = not numbered.all() and bool(numbered.any())
    kept = Kept(spill, out, lexicon.number_of, lexicon.columns, types, mixed)
    with make_engine(options.engine, options.threads) as engine:
        segment = write_segment(segment_folder, kept, engine, progress)
    path = root / "corpus" / "lexicon.parquet"
    pq.write_table(lexicon.table, path, compression="zstd")
    shutil.rmtree(spilled)
    about = _record(options, lexicon, segment, ingested.text_blocks, types)
    report = {
        "documents": account.summary() | {"duplicate_texts": duplicates},
        "background_words": _background_words(lexicon, segment.documents),
        **_misfits(types, segment),
        "unspaced_share": round(unspaced, 4),
        "metadata_missing": [
            field.name
            for field, kinds in zip(types, ingested.kinds, strict=True)
            if kinds <= {NULL}
        ],
        "metadata_forms": survey.forms,
        "metadata_nearly": _nearly(
            segment_folder / "documents.parquet", options.meta_types, types, ingested.kinds
        ),
    }
    return BuiltCorpus(about, report)


def _nearly(
    documents: Path, asked: list[MetaField], types: list[MetaField], kinds: list[set[str]]
) -> dict[str, dict[str, Any]]:
    """Fields that some values keep from being dates or numbers: which type, how many, one."""
    texts = [
        one.name
        for one, wish, seen in zip(types, asked, kinds, strict=True)
        if wish.kind == "auto" and one.kind == "category" and seen & {DATE, NUMBER, NUMERAL}
    ]
    found = {}
    for name in texts:
        column = pq.read_table(documents, columns=[f"meta.{name}"])[f"meta.{name}"]
        if (about := nearly(column)) is not None:
            kind, wrong = about
            values = len(column) - column.null_count
            found[name] = {
                "type": kind,
                "misfits": wrong.number,
                "values": values,
                "example": shown(wrong.example),
            }
    return found


def _rejected(
    spill: SpillReader, options: CorpusOptions, account: Account, *, as_given: bool
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], int]:
    """Which documents are out, which have no id, and how many repeat the text of another."""
    out, numbered = np.zeros((2, spill.size), dtype=bool)
    for block in spill:
        numbered[block.first : block.first + block.rows.size] = block.rows["numbered"]
        wordless = np.flatnonzero(block.rows["tokens"] == 0)[: 0 if as_given else None]
        out[block.first + wordless] = True
        account.reject_rows(block.rows[wordless], "no words")
    account.check_usable()
    if not as_given:
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


def _record(
    options: CorpusOptions,
    lexicon: Lexicon,
    segment: WrittenSegment,
    text_blocks: list[int],
    fields: list[MetaField],
) -> CorpusRecord:
    """What the manifest says."""
    written = SegmentRecord(
        name="0000", boundaries=tuple(segment.boundaries), text_blocks=tuple(text_blocks)
    )
    return CorpusRecord(
        documents=segment.documents,
        tokens=segment.tokens,
        vocabulary=len(_vocabulary(lexicon)),
        lexicon=len(lexicon.table),
        meta={field.name: field.kind for field in fields},
        segments=(written,),
        settings=options.settings(lexicon.min_df),
    )


def _vocabulary(lexicon: Lexicon) -> pa.Table:
    """The words of the model."""
    return lexicon.table.filter(lexicon.table["column"].to_numpy() >= 0)


def _background_words(lexicon: Lexicon, documents: int) -> list[str]:
    """Words that are everywhere."""
    model = _vocabulary(lexicon)
    frequent = background(model["documents"].to_numpy(), model["occurrences"].to_numpy(), documents)
    words: list[str] = model["surface"].take(frequent[:BACKGROUND_WORDS]).to_pylist()
    return words


def _misfits(fields: list[MetaField], segment: WrittenSegment) -> dict[str, dict[str, Any]]:
    """How many values of each field are not of its type, and one of them."""
    wrong = {field.name: one for field, one in zip(fields, segment.misfits, strict=True)}
    return {
        "metadata_misfits": {name: one.number for name, one in wrong.items()},
        "metadata_examples": {
            name: shown(one.example) for name, one in wrong.items() if one.number
        },
    }
