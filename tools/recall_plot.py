"""The plot in docs/benchmarks.md: the table of recall beside plain BM25, a panel for each set of questions."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

HEADER = "| set, questions | plain BM25 | ranking |"
BUDGETS = ("250", "500", "1,000", "2,000", "4,000")
COLUMNS = 3
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 270, 190, 34, 34, 24


@dataclass(frozen=True, slots=True)
class Panel:
    """One set: the share of evidence found at each budget, in percent."""

    name: str
    plain: tuple[float, ...]
    ranking: tuple[float, ...]


def panels(page: str) -> list[Panel]:
    """The rows of the table in a page."""
    lines = page.partition(HEADER)[2].split("\n\n", 1)[0].splitlines()[2:]
    found = []
    for line in lines:
        name, plain, ranking = (cell.strip() for cell in line.strip("|").split(" | "))
        found.append(Panel(name, _figures(plain), _figures(ranking)))
    return found


def _figures(cell: str) -> tuple[float, ...]:
    return tuple(float(figure) for figure in cell.strip(" |").split(" / "))


def plot(page: str) -> str:
    """The table of a page as SVG that follows the reader's light or dark theme."""
    drawn = panels(page)
    rows = -(-len(drawn) // COLUMNS)
    width, height = COLUMNS * WIDTH, rows * HEIGHT + 30
    parts = [
        f'<g transform="translate({at % COLUMNS * WIDTH} {at // COLUMNS * HEIGHT + 30})">{"".join(_panel(panel))}</g>'
        for at, panel in enumerate(drawn)
    ]
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" \
aria-label="Evidence found at five budgets by plain BM25 and by the ranking, on {len(drawn)} sets">
<style>
text {{ font: 11px system-ui, sans-serif; fill: #24292f }} .name {{ font-weight: 600 }}
.grid {{ stroke: #d5d0c4 }} .plain {{ stroke: #8a8f96 }} .ranking {{ stroke: #b3541e; stroke-width: 2 }}
polyline {{ fill: none; stroke-width: 1.5 }}
@media (prefers-color-scheme: dark) {{
  text {{ fill: #e3e6e9 }} .grid {{ stroke: #343a41 }} .ranking {{ stroke: #f0924f }}
}}
</style>
<line class="plain" x1="{LEFT}" y1="14" x2="{LEFT + 24}" y2="14"/><text x="{LEFT + 30}" y="18">plain BM25</text>
<line class="ranking" x1="{LEFT + 110}" y1="14" x2="{LEFT + 134}" y2="14"/><text x="{LEFT + 140}" y="18">ranking</text>
<text x="{LEFT + 210}" y="18">percent of the evidence inside a reply of so many tokens</text>
{chr(10).join(parts)}
</svg>
"""


def _panel(panel: Panel) -> Iterator[str]:
    bottom = HEIGHT - BOTTOM
    name = panel.name.partition(", asked by")[0]
    yield f'<text class="name" x="{LEFT}" y="{TOP - 14}">{html.escape(name)}</text>'
    for percent in (40, 60, 80, 100):
        y = _height(percent)
        yield f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - 16}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{percent}</text>'
    for at, budget in enumerate(BUDGETS):
        yield f'<text x="{_place(at):.1f}" y="{bottom + 14}" text-anchor="middle">{budget}</text>'
    yield f'<polyline class="plain" points="{_points(panel.plain)}"/>'
    yield f'<polyline class="ranking" points="{_points(panel.ranking)}"/>'


def _points(figures: Sequence[float]) -> str:
    return " ".join(f"{_place(at):.1f},{_height(figure):.1f}" for at, figure in enumerate(figures))


def _place(at: int) -> float:
    return LEFT + 12 + at * (WIDTH - LEFT - 44) / (len(BUDGETS) - 1)


def _height(percent: float) -> float:
    return TOP + (100 - percent) * (HEIGHT - TOP - BOTTOM) / 65
