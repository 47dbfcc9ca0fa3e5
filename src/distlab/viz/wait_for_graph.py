"""The wait-for graph of a deadlock as a small SVG."""

from __future__ import annotations

import math
from html import escape

from distlab.records.explain import Deadlock, Wait

# Okabe and Ito's colours, which readers with any colour vision can tell apart
_STUCK, _ENDED, _ARROW = "#D55E00", "#999999", "#0072B2"
_RADIUS = 20  # of a rank's circle, in SVG units, as all lengths here


def wait_for_svg(deadlock: Deadlock) -> str:
    """Ranks as circles on a ring, an arrow from each stuck rank to those that it waits for.

    Vermilion ranks wait; grey ones have ended or don't wait. Text has the colour of the page's own.
    """
    ranks = sorted(
        {w.rank for w in deadlock.waits} | {r for w in deadlock.waits for r in w.on_ranks}
    )
    ring = 70 + 16 * len(ranks)
    width, height = 2 * ring + 260, 2 * ring + 80
    middle = width / 2, height / 2
    spots = {
        rank: (
            middle[0] + ring * math.sin(2 * math.pi * i / len(ranks)),
            middle[1] - ring * math.cos(2 * math.pi * i / len(ranks)),
        )
        for i, rank in enumerate(ranks)
    }
    arrows = "".join(_arrows(wait, spots) for wait in deadlock.waits)
    waiting = {wait.rank for wait in deadlock.waits}
    circles = "".join(_circle(rank, spots[rank], rank in waiting) for rank in ranks)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" role="img" font-family="sans-serif" font-size="12">'
        f"<title>{escape(deadlock.message)}</title>"
        '<defs><marker id="wait-for-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{_ARROW}"/></marker></defs>{arrows}{circles}</svg>'
    )


def _circle(rank: int, spot: tuple[float, float], waits: bool) -> str:
    colour, dash = (_STUCK, "") if waits else (_ENDED, ' stroke-dasharray="4 3"')
    x, y = spot
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="{colour}" fill-opacity="0.25" '
        f'stroke="{colour}" stroke-width="2"{dash}/>'
        f'<text x="{x:.1f}" y="{y:.1f}" fill="currentColor" text-anchor="middle" '
        f'dominant-baseline="central" font-weight="bold">{rank}</text>'
    )


def _arrows(wait: Wait, spots: dict[int, tuple[float, float]]) -> str:
    drawn = []
    x, y = spots[wait.rank]
    for other in wait.on_ranks:
        to_x, to_y = spots[other]
        length = math.hypot(to_x - x, to_y - y)
        if not length:
            continue
        along = (to_x - x) / length, (to_y - y) / length
        aside = -along[1], along[0]  # arrows there and back bend to different sides
        begin = x + along[0] * _RADIUS, y + along[1] * _RADIUS
        end = to_x - along[0] * (_RADIUS + 3), to_y - along[1] * (_RADIUS + 3)
        bend = (x + to_x) / 2 + aside[0] * 24, (y + to_y) / 2 + aside[1] * 24
        drawn.append(
            f'<path d="M{begin[0]:.1f},{begin[1]:.1f} Q{bend[0]:.1f},{bend[1]:.1f} '
            f'{end[0]:.1f},{end[1]:.1f}" fill="none" stroke="{_ARROW}" stroke-width="2" '
            'marker-end="url(#wait-for-head)"/>'
        )
    return "".join(drawn) + _label(wait, spots)


def _label(wait: Wait, spots: dict[int, tuple[float, float]]) -> str:
    """Operation and line, on the arrow to the first rank waited for."""
    if not wait.on_ranks:
        return ""
    (x, y), (to_x, to_y) = spots[wait.rank], spots[wait.on_ranks[0]]
    length = math.hypot(to_x - x, to_y - y) or 1.0
    # nearer to the rank that waits, so that two labels between the same ranks stand apart
    at_x = x + 0.38 * (to_x - x) - (to_y - y) / length * 26
    at_y = y + 0.38 * (to_y - y) + (to_x - x) / length * 26
    return (
        f'<text x="{at_x:.1f}" y="{at_y:.1f}" fill="currentColor" text-anchor="middle">'
        f"{escape(str(wait.event))}"
        f'<tspan x="{at_x:.1f}" dy="14">{escape(wait.event.place)}</tspan></text>'
    )
