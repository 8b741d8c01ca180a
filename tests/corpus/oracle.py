"""The corpus step in plain Python: slow, short, and obviously right."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from strod.text.characters import HOLE, SENTENCE
from strod.text.fold import composed, fold, stemmer
from strod.text.reference import tokens
from strod.text.stopwords import stopwords
from strod.text.tokenizers import find_tokenizer
from strod.text.vocabulary import least_documents

if TYPE_CHECKING:
    from collections.abc import Callable

    from strod.options import CorpusOptions
    from strod.workspace.workspace import Workspace

Record = dict[str, Any]

_FORMS = (
    "topic Topic TOPIC topics model Model models modelling data Data's river River rivers the The "
    "and of don't caf\\'e café CAFÉ Schr\\\"odinger Schrödinger 主题 l'homme 3d 2010 1,000 x-ray "
    "state-of-the-art http://x.org me@x.org <b>bold</b> $x^2$ \\cite{k} E. coli naïve Straße"
)
FORMS = _FORMS.split(" ")
MARKS = [" ", " ", " ", " ", " ", ", ", ". ", "\n\n", "! ", " - "]


@dataclass
class Expected:
    """What a corpus should hold."""

    lexicon: list[dict[str, Any]]
    surfaces: list[str]
    streams: list[list[int]]
    counts: list[dict[int, int]]
    ids: list[str]
    texts: list[str]


def random_records(seed: int, size: int = 30) -> list[Record]:
    """Documents over few words, with repetitions of texts and ids, some without a word."""
    generator = random.Random(seed)
    records: list[Record] = []
    for number in range(size):
        words = generator.choices(FORMS, k=generator.randrange(1, 15))
        text = "".join(word + generator.choice(MARKS) for word in words)
        if generator.random() < 0.1 and records:
            text = generator.choice(records)["text"]
        elif generator.random() < 0.1:
            text = generator.choice(["12 34", "...", "$x$"])
        record: Record = {"text": text}
        if seed % 3:
            record["id"] = f"d{number if generator.random() < 0.9 else generator.randrange(size)}"
        records.append(record)
    return records


def _tokenized(text: str, options: CorpusOptions) -> list[str | int]:
    tokenizer = options.tokenizer
    if isinstance(tokenizer, str):
        found = find_tokenizer(tokenizer)
        if found is None:
            return tokens(text, numbers=options.numbers)
        tokenizer = found
    sentences = [[word for word in sentence if word.strip()] for sentence in tokenizer(text)]
    entries: list[str | int] = []
    for sentence in filter(None, sentences):
        entries += [SENTENCE, *sentence] if entries else sentence
    return entries


def _folder(options: CorpusOptions) -> Callable[[str], str]:
    stop = stopwords(options.language) | set(options.stopwords)
    stem = stemmer(options.language) if options.stem else str

    def folded(form: str) -> str:
        word = fold(form, options.language) or form
        return word if word in stop else stem(word)

    return folded


def _kept(records: list[Record], options: CorpusOptions) -> list[tuple[str, str, list[str | int]]]:
    """Id, text and tokens of the documents that stay."""
    kept: list[tuple[str, str, list[str | int]]] = []
    ids: set[str] = set()
    texts: set[str] = set()
    for number, record in enumerate(records, start=1):
        identifier = str(record.get("id", number))
        entries = _tokenized(record["text"], options)
        if not entries or identifier in ids:
            continue
        ids.add(identifier)
        if options.duplicates == "drop" and record["text"] in texts:
            continue
        texts.add(record["text"])
        kept.append((identifier, record["text"], entries))
    return kept


def _columns(words: list[str], df: Counter[str], documents: int, options: CorpusOptions):
    stop = stopwords(options.language) | set(options.stopwords)
    least = options.min_df or least_documents(documents)
    usable = [
        word
        for word in words
        if word not in stop and df[word] >= least and df[word] / documents <= options.max_df
    ]
    chosen = sorted(usable, key=lambda word: (-df[word], word.encode()))[: options.max_vocabulary]
    return {word: i for i, word in enumerate(sorted(chosen, key=str.encode))}


def expected(records: list[Record], options: CorpusOptions) -> Expected:
    """Everything a corpus of `records` should hold."""
    folded = _folder(options)
    kept = _kept(records, options)
    df: Counter[str] = Counter()
    cf: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    documents: list[list[str | int]] = []
    for _, _, entries in kept:
        for entry in entries:
            if isinstance(entry, str):
                forms[folded(entry)][composed(entry) if "\\" in entry else entry] += 1
        words = [folded(entry) if isinstance(entry, str) else entry for entry in entries]
        cf.update(word for word in words if isinstance(word, str))
        df.update({word for word in words if isinstance(word, str)})
        documents.append(words)
    stop = stopwords(options.language) | set(options.stopwords)
    least = options.min_df or least_documents(len(kept))
    words_kept = sorted((w for w in df if df[w] >= least or w in stop), key=str.encode)
    column = _columns(words_kept, df, len(kept), options)
    number = {word: i for i, word in enumerate(words_kept)}
    return Expected(
        lexicon=[
            {
                "word": word,
                "documents": df[word],
                "occurrences": cf[word],
                "stop": word in stop,
                "column": column.get(word, -1),
            }
            for word in words_kept
        ],
        surfaces=[
            min(forms[word], key=lambda form: (-forms[word][form], form.encode()))
            for word in words_kept
        ],
        streams=[
            [number.get(w, HOLE) if isinstance(w, str) else w for w in words] for words in documents
        ],
        counts=[
            dict(Counter(column[w] for w in words if isinstance(w, str) and w in column))
            for words in documents
        ],
        ids=[identifier for identifier, _, _ in kept],
        texts=[text for _, text, _ in kept],
    )


def compare(workspace: Workspace, wanted: Expected) -> None:
    """Everything in the workspace is as expected."""
    corpus = workspace.corpus
    table = corpus.lexicon
    assert table.drop_columns(["surface"]).to_pylist() == wanted.lexicon
    assert table["surface"].to_pylist() == wanted.surfaces
    streams: list[list[int]] = []
    counts: list[dict[int, int]] = []
    ids: list[str] = []
    texts: list[str] = []
    width = sum(entry["column"] >= 0 for entry in wanted.lexicon)
    for shard in corpus.shards():
        assert shard.first == len(ids)
        offsets = shard.token_offsets
        assert offsets.size == shard.size + 1
        streams += [shard.tokens[begin:end].tolist() for begin, end in pairwise(offsets)]
        matrix = shard.counts
        assert matrix.shape == (shard.size, width)
        assert matrix.has_sorted_indices
        for row in range(shard.size):
            where = slice(matrix.indptr[row], matrix.indptr[row + 1])
            pairs = zip(matrix.indices[where].tolist(), matrix.data[where].tolist(), strict=True)
            counts.append(dict(pairs))
        ids += shard.documents()["id"].to_pylist()
        texts += shard.texts(list(range(shard.size)))
    assert streams == wanted.streams
    assert counts == wanted.counts
    assert ids == wanted.ids
    assert texts == wanted.texts
    assert corpus.documents == len(ids)
    assert corpus.tokens == sum(token >= 0 for stream in streams for token in stream)
    assert len(corpus.vocabulary) == width
    assert workspace.check() == []
