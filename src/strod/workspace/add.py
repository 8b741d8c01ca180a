"""Adding documents: they are placed in the tree as it is, in time for what is added."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, field
from dataclasses import replace as node_with
from datetime import UTC, datetime
from itertools import compress, count, islice
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from strod.compute.blas import one_blas_thread
from strod.compute.counting import count_matrix
from strod.corpus.build import build_corpus
from strod.corpus.phrases import write_counts
from strod.corpus.reader import Corpus
from strod.engine.make import make_engine
from strod.errors import UsageError
from strod.options import check_text
from strod.passes.place import place_new
from strod.phrases.collect import collect
from strod.phrases.cut import cut
from strod.phrases.options import PhraseOptions
from strod.phrases.segmentation import Segmenter
from strod.progress import Silent
from strod.store.arrays import ArrayWriter
from strod.store.change import change
from strod.store.history import appended, next_segment
from strod.store.schema import ChangeRecord
from strod.store.schema import replace as record_with
from strod.store.splits import DiskShareStore
from strod.store.tables import numbers
from strod.store.topics import undone_changes, write_revision
from strod.text.forms import MetaField
from strod.text.sources import resolve
from strod.wording import counted, listed
from strod.workspace.assign import same_words
from strod.workspace.drift import growth_interval, telling_words
from strod.workspace.phrases import lexicon_of
from strod.workspace.replace import Removal, take_out
from strod.workspace.warned import left_out, warned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.keywords import AddOptions
    from strod.progress import Progress
    from strod.store.change import Staging
    from strod.store.schema import CorpusRecord
    from strod.workspace.workspace import Workspace

__all__ = ["Addition", "add"]

UNKNOWN = -3  # in a token stream: not a word of the lexicon
SHOWN = 20
CONFLICTS = 3
TOLD = 8  # words that strangers speak of
LEAST = 1e-12  # weight of a topic that has none


@dataclass(frozen=True)
class Addition:
    """What was added, and how far it differs from what was there.

    Attributes
    ----------
    documents, rejected, replaced : int
        Documents that were added, that could not be read, and that were taken out because
        an added one has the same id.
    unknown : float
        Share of their words that the corpus did not know.
    strangers : list of str
        Ids of the documents that fit no topic.
    usual : float or None
        Share of the corpus' own documents that would be so called if they were new; None if the
        corpus is too small to say: then strangers have no word of the model.
    words : list of str
        What strangers speak of, the most telling word first.
    growth : dict of float
        For each topic, by id, its weight among the new documents that fit divided by that before.
    intervals : dict of (float, float)
        The same, as low and as high as it may be: few documents say little. All of them hold at
        once with a chance of 95 %.
    phrases : list of (str, int)
        Frequent phrases of the new documents that are none of the corpus, and their counts.
    misfits : dict of int
        For metadata fields the number of values that are not of the field's type.
    missing : list of str
        Metadata fields that none of the documents has.
    examples : dict of str
        For fields with such values, the first of them.
    reasons : str
        Why documents could not be read, and where; empty if all could.
    """

    documents: int
    rejected: int
    replaced: int
    unknown: float
    strangers: list[str]
    usual: float | None
    words: list[str]
    growth: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    phrases: list[tuple[str, int]]
    misfits: dict[str, int] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    examples: dict[str, str] = field(default_factory=dict)
    reasons: str = ""

    def as_dictionary(self) -> dict[str, Any]:
        """For programs: what ``strod add --json`` prints."""
        return asdict(self)


def add(workspace: Workspace, sources: list[Any], **options: Unpack[AddOptions]) -> Addition:
    """Append documents to a workspace.

    The words of the model, the topics' numbers and phrases stay as they are. An id that is
    in the corpus already is refused, with nothing changed, unless `replace` is true: then
    the document that had it is taken out.
    """
    replace, note = options.pop("replace", False), options.pop("note", "")
    dry_run, progress = options.pop("dry_run", False), options.pop("progress", None) or Silent()
    check_text("the note", note)

    def work(staging: Staging) -> Addition:
        workspace.refresh()
        about = staging.manifest.corpus
        asked = map(MetaField.from_entry, about.settings.meta)
        forms = {field.name: field.form for field in asked}
        meta = tuple(
            MetaField(name, kind, forms.get(name, "")).entry for name, kind in about.meta.items()
        )
        chosen = same_words(about.settings, meta=meta, **options)
        incoming = staging.folder / "incoming"
        incoming.mkdir()
        parts = resolve(sources, chosen.format, follow_links=chosen.follow_links)
        before = _last_number(workspace.corpus)
        built = build_corpus(incoming, parts, chosen, progress, allow_empty=True, before=before)
        new = Corpus.drafted(incoming, built.about)
        with make_engine(chosen.engine, chosen.threads) as engine, one_blas_thread():
            addition = _Addition(workspace, staging, new, engine, progress)
            addition.make_room(replace=replace)
            result = addition.run(built.report)
        shutil.rmtree(incoming)
        if not dry_run:
            addition.publish(note)
        return result

    done = change(workspace.path, work, dry_run=dry_run)
    workspace.refresh()
    if done.reasons:
        warned(f"left out {done.reasons}", 3)
    return done


def _last_number(corpus: Corpus) -> int:
    """The highest number that stands for a document without an id, so that they go on."""
    ids = (one.removeprefix("#") for shard in corpus.shards() for one in shard.ids)
    return max((int(one) for one in ids if one.isascii() and one.isdigit()), default=0)


class _Addition:
    """Documents on their way into a workspace."""

    def __init__(
        self,
        workspace: Workspace,
        staging: Staging,
        new: Corpus,
        engine: Engine,
        progress: Progress,
    ) -> None:
        self._workspace, self._staging, self._new = workspace, staging, new
        self._engine, self._progress = engine, progress
        self._corpus, self._tree = workspace.corpus, workspace.tree
        self._tree.verify()
        self._nodes = list(self._tree.nodes.values())  # of the new revision, once they are counted
        # Names of segments that no revision has, not even an undone one.
        self._names = (f"{number:04d}" for number in count(next_segment(staging.manifest)))
        self._name = next(self._names)
        self._shards = list(new.shards())
        self._removal = Removal(self._corpus.about.segments, len(self._tree.nodes))
        self._about = self._corpus.about
        self._strange: list[NDArray[np.bool_]] = []  # which documents of each shard fit no topic

    def make_room(self, *, replace: bool) -> None:
        """Take out the documents that have the ids of new ones, or refuse."""
        mine = {one for shard in self._shards for one in shard.ids}
        known = (one for shard in self._corpus.shards() for one in shard.ids if one in mine)
        found = list(known if replace else islice(known, CONFLICTS + 1))
        if found and not replace:
            raise UsageError(
                f"{self._workspace.path}: has documents with the ids {listed(found, CONFLICTS)}; "
                "give the new ones other ids, or `replace`"
            )
        if found:
            self._progress.stage("taking out", 0, "documents")
            self._removal = take_out(self._workspace, self._staging, set(found), self._names)
        self._about = self._appended()

    def _appended(self) -> CorpusRecord:
        about, own, gone = self._staging.manifest.corpus, self._new.about, self._removal
        return record_with(
            about,
            documents=about.documents + own.documents - gone.documents,
            tokens=about.tokens + own.tokens - gone.tokens,
            segments=(*gone.segments, record_with(own.segments[0], name=self._name, added=True)),
        )

    def run(self, report: dict[str, Any]) -> Addition:
        """Translate, cut, place; returns what there is to say about it."""
        unknown = self._translate()
        added = record_with(
            self._about, segments=self._about.segments[-1:], documents=self._new.documents
        )
        segment = Corpus.drafted(self._staging.folder, added)
        self._cut(segment)
        weights = self._place(segment)
        before = {name: node.weight for name, node in self._tree.nodes.items()}
        before = {name: max(weight, LEAST) for name, weight in before.items()}
        size, topics = self._fitting, len(before)
        fit_model = self._tree.fit_model
        return Addition(
            self._new.documents,
            report["documents"]["rejected"],
            self._removal.documents,
            unknown,
            self._strangers(),
            None if fit_model is None else fit_model.threshold,
            telling_words(self._corpus, self._new, self._strange, TOLD),
            {name: weights[name] / before[name] for name in before},
            {
                name: growth_interval(weights[name], old, size, topics)
                for name, old in before.items()
            },
            self._new_phrases(),
            {name: wrong for name, wrong in report["metadata_misfits"].items() if wrong},
            report["metadata_missing"],
            report["metadata_examples"],
            left_out(report["documents"]),
        )

    def _strangers(self) -> list[str]:
        """Ids of the documents that fit no topic."""
        shards = zip(self._shards, self._strange, strict=True)
        return [name for shard, these in shards for name in compress(shard.ids, these)]

    def _translate(self) -> float:
        """The new segment in the words of the corpus; returns the share of unknown words."""
        source = self._new.folder / "0000"
        target = self._staging.folder / "corpus" / self._name
        shutil.copytree(source, target)
        known = {word: row for row, word in enumerate(self._corpus.lexicon["word"].to_pylist())}
        words = self._new.lexicon["word"].to_pylist()
        row_of = np.array([known.get(word, UNKNOWN) for word in words] or [0], dtype=np.int32)
        columns = numbers(self._corpus.lexicon["column"])
        width = len(self._corpus.vocabulary)
        names = {"tokens": "<i4", "indptr": "<i8", "indices": "<i4", "counts": "<i4"}
        writers = {name: ArrayWriter(target / f"{name}.npy", kind) for name, kind in names.items()}
        writers["indptr"].append(np.zeros(1, dtype=np.int64))
        total = missing = 0
        for shard in self._shards:
            tokens = np.where(shard.tokens >= 0, row_of[shard.tokens], shard.tokens)
            total += int((shard.tokens >= 0).sum())
            missing += int(((tokens < 0) & (shard.tokens >= 0)).sum())
            sizes = np.diff(shard.token_offsets)
            part = count_matrix(tokens.astype(np.int32), sizes, columns, width)
            writers["tokens"].append(tokens)
            writers["indptr"].append(part.indptr[1:] + writers["counts"].size)
            writers["indices"].append(part.indices)
            writers["counts"].append(part.data)
        for writer in writers.values():
            writer.close()
        return missing / max(total, 1)

    def _cut(self, segment: Corpus) -> None:
        book = self._workspace.phrase_index
        units = book.units
        segmenter = Segmenter(units.alphabet, units.phrases)
        found = self._engine.map(cut, segment.refs(), segmenter, units.unit_of, units.size)
        write_counts(self._staging.folder / "phrases" / self._name, (part for part, _ in found))

    def _place(self, segment: Corpus) -> dict[str, float]:
        """Shares in the decompositions that the tree is made of; weights among the new.

        Others belong to revisions in which these documents are not there.
        """
        nodes, refs = self._nodes, segment.refs()
        documents = np.zeros(len(nodes), dtype=np.int64)
        weights = np.zeros(len(nodes))
        self._progress.stage("placing documents", self._new.documents, "documents")
        with DiskShareStore(self._staging.folder, [(self._name, self._new.documents)]) as own:
            found = self._engine.map(place_new, refs, self._tree.model, self._tree.fit_model)
            for ref, part in zip(refs, found, strict=True):
                for name, shares in part.shares.items():
                    own.append(name, shares)
                weights += part.weights
                documents += part.documents
                self._strange.append(part.strange)
                self._progress.advance(ref.size)
            for name in self._tree.splits:
                own.close(name)
        documents -= self._removal.by_topic
        self._nodes = [  # those of the tree belong to others who read it
            node_with(node, documents=node.documents + more)
            for node, more in zip(nodes, documents.tolist(), strict=True)
        ]
        size = max(self._fitting, 1)
        return {node.id: float(w) / size for node, w in zip(nodes, weights, strict=True)}

    @property
    def _fitting(self) -> int:
        """New documents that fit: the others say nothing of topics that they are put into."""
        return self._new.documents - sum(int(some.sum()) for some in self._strange)

    def _new_phrases(self) -> list[tuple[str, int]]:
        """Frequent phrases of the new documents that the corpus does not have."""
        book, lexicon = self._workspace.phrase_index, lexicon_of(self._new, "none")
        found = collect(self._new.refs(), lexicon, PhraseOptions(), self._engine, Silent())
        fresh = [
            (tuple(lexicon.words[token] for token in found.form_tokens(phrase)), phrase.count)
            for phrase in found.phrases
        ]
        firsts = {words[0] for words, _ in fresh}
        begins = [book.lexicon.words[row] in firsts for row in book.units.alphabet.words]
        known = {
            tuple(book.lexicon.words[token] for token in book.units.form_tokens(phrase))
            for phrase in book.units.phrases
            if begins[phrase.words[0]]
        }
        fresh = [one for one in fresh if one[0] not in known]
        fresh.sort(key=lambda one: (-one[1], one[0]))
        return [(" ".join(words), count) for words, count in fresh[:SHOWN]]

    def publish(self, note: str) -> None:
        """A revision in which topics have more documents, and the corpus a segment more."""
        manifest, folder = self._staging.manifest, self._staging.folder
        tree = appended(manifest.tree, len(self._nodes), self._about)
        gone = f", replace {self._removal.documents}" if self._removal.documents else ""
        what = f"add {counted(self._new.documents, 'document')}{gone}"
        when = datetime.now(UTC).isoformat(timespec="seconds")
        undone = undone_changes(self._workspace.files, manifest.tree)
        record = ChangeRecord(what=what, note=note, when=when, undone=undone)
        write_revision(folder, self._nodes, record, tree.history[-1], manifest.parts)
        content = record_with(manifest, corpus=self._about, tree=tree)
        self._staging.publish(content, self._engine.workers)
