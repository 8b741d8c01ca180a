"""Answers that change something: previews, their application, jobs, the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strod.explorer.plans import VERBS, Request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strod.explorer.jobs import Job
    from strod.explorer.state import Explorer
    from strod.progress import Progress

__all__ = ["VERBS", "apply", "cancel", "job", "preview", "shutdown"]


def preview(explorer: Explorer, given: Mapping[str, Any]) -> Job:
    """What a verb would do."""
    request = Request.of(given)

    def work(progress: Progress) -> dict[str, Any]:
        plan = explorer.plans.make(request, progress)
        arguments, options = request.arguments
        return {
            "plan": plan.id,
            "revision": plan.revision,
            "change": plan.change,
            "command": explorer.view().command(request.verb, *arguments, **options),
        }

    return explorer.jobs.start(work)


def apply(explorer: Explorer, given: Mapping[str, Any]) -> Job:
    """Do what was previewed."""

    def work(progress: Progress) -> dict[str, Any]:
        plan = explorer.plans.apply(given["plan"], given["note"], progress)
        return {"revision": plan.revision, "change": plan.change}

    return explorer.jobs.start(work)


def job(explorer: Explorer, given: Mapping[str, Any]) -> dict[str, Any]:
    """How far a job is."""
    return explorer.jobs.find(given["id"]).as_dictionary()


def cancel(explorer: Explorer, given: Mapping[str, Any]) -> dict[str, Any]:
    """Call off a job."""
    found = explorer.jobs.find(given["id"])
    found.cancel()
    return found.as_dictionary()


def shutdown(explorer: Explorer, _: Mapping[str, Any]) -> dict[str, Any]:
    """End the server, once this is answered."""
    explorer.end()
    return {"ending": True}
