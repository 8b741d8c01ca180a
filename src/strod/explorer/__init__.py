"""The explorer: a workspace in the browser, and the same as JSON for programs."""
