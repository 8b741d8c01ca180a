"""The page of a study: one file that asks nobody for anything."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from strod.export.names import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["page"]

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'"
)
# Inside a script element these could end it, or begin a comment.
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def page(study: str, questions: Sequence[dict[str, Any]]) -> str:
    """The page; `questions` have `kind`, `above` and `options`, and no solution."""
    data = json.dumps({"study": study, "questions": list(questions)}, ensure_ascii=False)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="strod">
<title>What does not belong?</title>
<style>
{_resource("page.css")}</style>
</head>
<body>
{_resource("page.html").replace("STUDY", escaped(study))}<script type="application/json" id="data">
{data.translate(_UNSAFE)}
</script>
<script>
{_resource("page.js")}</script>
</body>
</html>
"""


def _resource(name: str) -> str:
    return (files("strod.intrusion") / name).read_text(encoding="utf-8")
