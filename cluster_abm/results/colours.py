"""One colour for one thing: in figures, in films and on the page. Those of policies are in looks.py."""

from __future__ import annotations

from collections.abc import Sequence

# Texts and axes; remarks; lines of a grid; the ground.
INK, FAINT, LINE, PAPER = "#1b2733", "#5b6770", "#d5dbe0", "#ffffff"
# Marks of a legend that stand for no policy, and axes through zero; a remark inside a figure.
MARK, REMARK = "#444444", "#666666"
# Of the network: links, rims of nodes, a node in a legend, the way of a task that moved, a node that is down.
LINK, FILM_LINK, RIM, NODE, MOVE, DOWN = "#8d99a3", "#c5ccd2", "#51606b", "#cfd6db", "#b0307a", "#7d2a22"
# Of states of a task, beside policies in the same picture: none of these is a policy's. Any two are as far apart as
# two policies (looks.py); hatches, edges and places are their second sign.
BREAKDOWN_COLOURS = {
    "cpu": "#6B8E23",
    "cpu_queue": "#C9DA9A",
    "io": "#6A62CF",
    "io_queue": "#ACB0E8",
    "paging": "#A31621",
    "migration": "#F2A6A0",
    "barrier": "#F0E442",
    "blocked": "#46505C",
}
# Of moves in the player, by its legend: remote start, migration, refused offer, data, return, restart, message.
MOVE_COLOURS = ("#006978", "#b0307a", "#C2410C", "#00846A", "#C2410C", "#8C6D1F", "#7A8691")
# Loads in all pictures, from much to little, even in lightness (OKLab); on a dark ground the player turns it round.
RAMP = ("#2a2a5e", "#2b4171", "#275985", "#237196", "#3986a6", "#4b9cb4", "#69b0c2", "#8ac2d1", "#a9d3e0")
# Of the one curve of a panel, which is neither a policy nor a resource.
ALONE = "#3B4A57"
# Of curves that are no policies, in this order: log and model, machines, kinds of nodes.
SERIES_COLOURS = (ALONE, "#FC4860", "#30A0C0", "#A04000", "#9030A0")
# A claim that holds, and its reverse; ratios that speak for what is asked about, and against it.
FOR, AGAINST = "#006978", "#A6611A"


def mixed(colour: str, share: float) -> str:
    """A colour with that share of white, or of black where it is below 0."""
    end = 255 if share > 0 else 0
    parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{round(part + abs(share) * (end - part)):02X}" for part in parts)


def ink_on(fill: Sequence[float]) -> str:
    """Black or white, whichever stands out more on a colour (red, green, blue, 0..1): a contrast of 4.5 at least."""
    # Relative luminance as the Web Content Accessibility Guidelines define it.
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in fill[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#ffffff"
