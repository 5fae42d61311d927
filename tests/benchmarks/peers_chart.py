"""Draw the peers as bars on a logarithmic scale, as an SVG of its own."""

from html import escape
from math import log10

WIDTH, LEFT, BAR, GAP = 720, 220, 18, 8
INK, PALE, OWN, OTHER = "#22292e", "#5b6770", "#3d7a5a", "#b9c2c9"


def chart(rows):
    """Give the SVG of rows: title, seconds of a call, its ratio, starts with 1 and 1,000 tools."""
    calls = [(title, ratio, f"{ratio:,.1f} ×") for title, _, ratio, *_ in rows]
    starts = [(title, many, f"{many * 1e3:,.0f} ms") for title, *_, many in rows]
    first, end = _panel("A call, × the bare function", calls, 44)
    second, end = _panel("Start to the first call with 1,000 tools", starts, end + 28)
    body = "\n".join(["  " + line for line in (*first, *second)])
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {end}" role="img" \
aria-labelledby="t d" font-family="system-ui, sans-serif" font-size="13">
  <title id="t">Toolmd beside its peers</title>
  <desc id="d">The figures of the table above, as bars on a logarithmic scale.</desc>
  <rect width="{WIDTH}" height="{end}" rx="10" fill="#fbfaf7"/>
{body}
</svg>
"""


def _panel(heading, bars, top):
    """Give the lines of one group of bars, and where the next may begin."""
    lines = [f'<text x="16" y="{top - 14}" font-weight="600" fill="{INK}">{heading}</text>']
    least = min(value for _, value, _ in bars) / 1.6
    span = log10(max(value for _, value, _ in bars) / least)
    for place, (title, value, told) in enumerate(bars):
        y = top + place * (BAR + GAP)
        wide = (WIDTH - LEFT - 110) * log10(value / least) / span
        fill = OWN if title.startswith("Toolmd") else OTHER
        lines += [
            _text(LEFT - 10, y, title, f'text-anchor="end" fill="{INK}"'),
            f'<rect x="{LEFT}" y="{y}" width="{wide:.1f}" height="{BAR}" rx="3" fill="{fill}"/>',
            _text(LEFT + wide + 8, y, told, f'fill="{PALE}"'),
        ]
    return lines, top + len(bars) * (BAR + GAP) + 12


def _text(x, y, text, how):
    return f'<text x="{x:.0f}" y="{y + 14}" {how}>{escape(text)}</text>'
