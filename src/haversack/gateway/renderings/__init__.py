"""Renderings: shorter forms of long results that need no legend, each deterministic and named in its first line."""

from haversack.gateway.renderings.rendering import Rendering, rendered

__all__ = ["Rendering", "rendered"]
