"""Pages and parts of pages, from the templates in ``templates/``."""

from strod.pages.render import page, part

__all__ = ["page", "part"]
