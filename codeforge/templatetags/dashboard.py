"""Look-ups that templates cannot write."""

from collections.abc import Mapping

from django import template

register = template.Library()


@register.filter
def of(counts: Mapping[str, int], name: str) -> int:
    """``counts[name]``, or 0."""
    return counts.get(name, 0)
