"""Every address under ``/api``, with its parameters, its answer and who answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strod.explorer import about, asking, reading, shapes, writing
from strod.explorer.parameters import Parameter
from strod.query.slices import MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ROUTES", "Route"]

SECONDS = 30.0  # that an answer may take
PATIENCE = 120.0  # for what reads everything
LARGEST = 10**9

TOPIC = Parameter("topic", "Only this topic and those below: path, id or name.", most=1000)
WHERE = Parameter("where", "Which documents are meant: year >= 2015 AND label = 'cs.LG'.")
LEVEL = Parameter("level", "Only topics of this level.", kind="integer", most=1000)
LIMIT = Parameter("limit", "How many.", kind="integer", default=20, least=1, most=200)
OFFSET = Parameter("offset", "How many are passed over.", kind="integer", default=0, most=LARGEST)
WAIT = Parameter("wait", "0 to be given a job at once.", kind="integer", default=1, least=0, most=1)
NOTE = Parameter("note", "Why, for the history.", default="", most=1000)


@dataclass(frozen=True)
class Route:
    """One address and method.

    Attributes
    ----------
    method, path : str
        ``GET``, ``/api/topic/{path}``.
    act : callable
        Takes what it is asked of and the values of the parameters.
    summary : str
        What it answers, in a sentence.
    shape : object
        Of the answer, for `strod.explorer.shapes.schema_of`.
    query, body, steps : tuple of Parameter
        What may stand in the address, in the body and in the path.
    writes : bool
        Whether it is refused where nobody may change anything.
    whole : bool
        Whether it is asked of one revision, and so has an ETag.
    seconds : float
        How long it may take.
    """

    method: str
    path: str
    act: Callable[..., Any]
    summary: str
    shape: Any
    query: tuple[Parameter, ...] = ()
    body: tuple[Parameter, ...] | None = None
    steps: tuple[Parameter, ...] = ()
    writes: bool = False
    whole: bool = True
    seconds: float = SECONDS


ROUTES = (
    Route("GET", "/api/workspace", about.workspace, "The workspace.", shapes.WORKSPACE),
    Route(
        "GET",
        "/api/tree",
        reading.tree,
        "All topics in columns; with `where` or `query`, a slice beside them.",
        shapes.TREE,
        (
            WHERE,
            Parameter("query", "Only documents that a search finds."),
            TOPIC,
            Parameter("depth", "Levels below the topic.", kind="integer", most=1000),
        ),
    ),
    Route(
        "GET",
        "/api/topic/{path}",
        reading.topic,
        "One topic.",
        shapes.TOPIC,
        steps=(Parameter("path", "Path, id or name.", required=True, least=1, most=1000),),
    ),
    Route(
        "GET",
        "/api/documents",
        reading.documents,
        "Documents of a topic, those with the largest share first.",
        shapes.DOCUMENTS,
        (TOPIC, WHERE, LIMIT, OFFSET),
    ),
    Route(
        "GET",
        "/api/document/{number}",
        reading.document,
        "One document, with the topic that explains each of its words most.",
        shapes.DOCUMENT,
        steps=(
            Parameter(
                "number", "Its number in the corpus.", kind="integer", required=True, most=LARGEST
            ),
        ),
    ),
    Route(
        "GET",
        "/api/search",
        asking.search,
        "Documents by what they say, and the topics they are in.",
        shapes.SEARCH,
        (
            Parameter("q", "Words, phrases, AND, OR, NOT, prefix*, field:value.", required=True),
            TOPIC,
            WHERE,
            LIMIT,
            OFFSET,
        ),
    ),
    Route(
        "GET",
        "/api/slice",
        asking.slice_,
        "Documents of topics by the values of fields.",
        shapes.SLICE,
        (
            Parameter("by", "A field: date:month.", required=True, most=300, many=True),
            TOPIC,
            LEVEL,
            WHERE,
            Parameter("measure", "What is meant.", default="share", choices=MEASURES),
        ),
    ),
    Route(
        "GET",
        "/api/trends",
        asking.trends,
        "Topics that grew or shrank.",
        shapes.TRENDS,
        (Parameter("field", "When: date, date:month, year.", most=300), TOPIC, LEVEL, WHERE),
    ),
    Route(
        "GET",
        "/api/entity",
        asking.entity,
        "The topics of an entity.",
        shapes.ENTITY,
        (
            Parameter("field", "A list or a category.", required=True, most=300),
            Parameter("name", "As it is written there.", required=True),
        ),
    ),
    Route("GET", "/api/fields", asking.fields, "Metadata fields.", shapes.FIELDS),
    Route("GET", "/api/history", about.history, "What was changed.", shapes.HISTORY),
    Route("GET", "/api/report", about.report, "How it was built.", shapes.REPORT),
    Route(
        "GET",
        "/api/compare",
        about.compare,
        "Two revisions by number, or two topics by path.",
        shapes.COMPARE,
        (
            Parameter("a", "A revision or a topic.", required=True, least=1, most=1000),
            Parameter("b", "Another one.", required=True, least=1, most=1000),
        ),
    ),
    Route(
        "GET",
        "/api/export",
        about.export,
        "The tree for other tools, as a file.",
        None,
        (Parameter("to", "The format.", required=True, choices=tuple(about.KINDS)),),
        seconds=PATIENCE,
    ),
    Route(
        "POST",
        "/api/preview",
        writing.preview,
        "What a verb would do; nothing is written.",
        shapes.PREVIEW,
        (WAIT,),
        (
            Parameter("verb", "What to do.", required=True, choices=writing.VERBS),
            Parameter("topics", "Paths, ids or names.", most=1000, many=True),
            Parameter("children", "How many, or auto.", kind="children", least=2, most=1000),
            Parameter("height", "Levels below.", kind="integer", least=1, most=100),
            Parameter("fresh", "Whether to learn anew.", kind="boolean", default=False),
            Parameter("force", "Whether evidence is not asked for.", kind="boolean", default=False),
            Parameter("target", "The new parent.", most=1000),
            Parameter("into", "Where all of it goes.", default="", most=1000),
            Parameter("label", "The name.", most=1000),
            NOTE,
        ),
        writes=True,
        whole=False,
    ),
    Route(
        "POST",
        "/api/apply",
        writing.apply,
        "Do what was previewed; refused if the workspace has changed since.",
        shapes.APPLIED,
        (WAIT,),
        (Parameter("plan", "Which preview.", required=True, least=1, most=100), NOTE),
        writes=True,
        whole=False,
    ),
    Route(
        "GET",
        "/api/jobs/{id}",
        writing.job,
        "How far a job is.",
        shapes.JOB,
        steps=(Parameter("id", "The job.", required=True, least=1, most=100),),
        whole=False,
    ),
    Route(
        "DELETE",
        "/api/jobs/{id}",
        writing.cancel,
        "Cancel a job.",
        shapes.JOB,
        steps=(Parameter("id", "The job.", required=True, least=1, most=100),),
        writes=True,
        whole=False,
    ),
    Route(
        "POST",
        "/api/shutdown",
        writing.shutdown,
        "End the server.",
        shapes.ENDING,
        body=(),
        writes=True,
        whole=False,
    ),
)
