"""The options that every `.plot` shares: which policies, against what, how large, and how it looks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError, gathered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Widths of a journal's column and of the text on its page [inches].
WIDTHS = {"column": 3.4, "page": 7.0}
SMALLEST, LARGEST = 1.5, 40.0
# Letters are 7 pt high in a figure of a column's width, 8 pt in one of a page's, and 10 pt from 14 inches on.
SMALLEST_TYPE, TYPE_PER_INCH = 0.7, 0.1 / 3.6
# A logarithmic axis is used where the largest value is more than this many times the smallest.
DWARFED = 10.0


class Look(TypedDict, total=False):
    """The keywords of every `.plot`; a picture that one of them makes no sense for refuses it.

    policies: which ones are drawn, in this order; default: all.
    baseline: the policy that the others are drawn against.
    x: the key along the x axis.
    size: "column" (3.4 inches wide), "page" (7 inches), or (width, height) in inches; default: as large as it needs.
    labels: {policy: text}, what a policy is called in the picture.
    colours: {policy: colour}, in any form that Matplotlib takes.
    title: what stands above; "" leaves it out.
    style: the name of a Matplotlib style, or a dictionary of its settings, laid over the package's own look.
    """

    policies: Sequence[str] | None
    baseline: str | None
    x: str | None
    size: str | tuple[float, float] | None
    labels: Mapping[str, str] | None
    colours: Mapping[str, str] | None
    title: str | None
    style: str | Mapping[str, Any] | None


# What makes sense for every picture.
ALWAYS = frozenset({"size", "title", "style"})
OF_POLICIES = ALWAYS | {"policies", "labels", "colours"}


@dataclass(frozen=True)
class FigureOptions:
    """Checked options of one picture; the attributes are those of `Look`.

    Attributes:
        policies: which ones are drawn, in order.
        inches: width, and height where it is given; None: as large as the picture needs.
        rc: the style as Matplotlib's settings.
    """

    policies: tuple[str, ...] = ()
    baseline: str | None = None
    x: str | None = None
    inches: tuple[float, float | None] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    colours: Mapping[str, str] = field(default_factory=dict)
    title: str | None = None
    rc: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, look: Look, takes: Collection[str], policies: Sequence[str] = (), what: str = "picture"
    ) -> FigureOptions:
        """Check the keywords of a `.plot`.

        Args:
            look: as given.
            takes: the options that this picture takes.
            policies: those that there are, in the usual order.
            what: the picture, in messages.

        Raises:
            InputError: an option that does not exist, that this picture does not take, or a value that cannot be.
        """
        given: dict[str, Any] = {name: value for name, value in look.items() if value is not None}
        allowed = ", ".join(sorted(takes))
        with gathered() as gather:
            for name in given:
                if name not in takes:
                    why = "has no use for it" if name in Look.__annotations__ else "knows no such option"
                    begin = f"plot({name}={shortened(given[name])}): the {what}"
                    gather.problems.append(f"{begin} {why}; allowed: {allowed}")
            for name, check in (("size", _inches), ("style", _settings), ("title", _text)):
                if name in given:
                    with gather:
                        given[name] = check(given[name])
            for name in ("policies", "labels", "colours"):
                if name in given and name in takes:
                    with gather:
                        _check_names(name, given[name], policies)
            if "baseline" in given and "baseline" in takes and given["baseline"] not in policies:
                gather.problems.append(_unknown("baseline", given["baseline"], policies))
        return cls(
            tuple(given.get("policies", policies)), given.get("baseline"), given.get("x"), given.get("size"),
            given.get("labels", {}), given.get("colours", {}), given.get("title"), given.get("style", {}),
        )  # fmt: skip

    @property
    def type_scale(self) -> float:
        """How large letters and lines are, of their usual size."""
        if self.inches is None:
            return 1.0
        return min(1.0, max(SMALLEST_TYPE, SMALLEST_TYPE + TYPE_PER_INCH * (self.inches[0] - WIDTHS["column"])))

    def titled(self, usual: str) -> str:
        """The title as given, or the usual one."""
        return usual if self.title is None else self.title

    def draw(self, drawing: Callable[[], Figure]) -> Figure:
        """Draw by a function while these options hold, and fit the figure to its size."""
        from cluster_abm.results.figures.fitting import fit

        with self._in_force():
            figure = drawing()
            if self.inches is not None:
                fit(figure, self.type_scale)
        return figure

    @contextmanager
    def _in_force(self) -> Iterator[None]:
        from matplotlib import rc_context

        token = _now.set(self)
        try:
            # What Matplotlib chooses by itself has the size of the letters, too; a style of the user goes over it.
            settings: dict[Any, Any] = {**_scaled_settings(self.type_scale), **self.rc}
            with rc_context(settings):
                yield
        finally:
            _now.reset(token)


NONE = FigureOptions()
_now: ContextVar[FigureOptions] = ContextVar("options of the figure that is drawn", default=NONE)


def current() -> FigureOptions:
    """The options of the figure that is being drawn; outside of `FigureOptions.draw` none are set."""
    return _now.get()


def check_metric(metric: object, own: str, why: str) -> None:
    """Raise InputError if a picture that is about one metric is asked for another one."""
    if metric not in (None, "", own):
        raise InputError(f"plot({shortened(metric)}): {why}; allowed: {own}")


def label_for(policy: str) -> str:
    """What a policy is called in the figure that is being drawn."""
    return current().labels.get(policy, policy)


def _scaled_settings(scale: float) -> dict[str, Any]:
    import matplotlib

    if scale == 1.0:
        return {}
    kinds = ("major.size", "minor.size", "major.width", "minor.width", "major.pad", "minor.pad")
    names = ["font.size", "axes.linewidth", "axes.labelpad", "axes.titlepad", "hatch.linewidth"]
    names += [f"{axis}tick.{kind}" for axis in "xy" for kind in kinds]
    usual: Mapping[Any, Any] = matplotlib.rcParams
    return {name: scale * usual[name] for name in names}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"plot(title={shortened(value)}): has to be a text")
    return value


def _inches(value: object) -> tuple[float, float | None]:
    """Width and height of a size. Raises InputError."""
    if isinstance(value, str) and value in WIDTHS:
        return WIDTHS[value], None
    if isinstance(value, tuple | list) and len(value) == 2:
        sides = [side for side in value if isinstance(side, int | float) and not isinstance(side, bool)]
        if len(sides) == 2 and all(SMALLEST <= side <= LARGEST for side in sides):
            return float(sides[0]), float(sides[1])
    raise InputError(
        f'plot(size={shortened(value)}): allowed: "column" (3.4 inches wide), "page" (7 inches), or (width, height) in '
        f"inches, each from {SMALLEST:g} to {LARGEST:g}"
    )


def _settings(value: object) -> Mapping[str, Any]:
    """A style as Matplotlib's settings. Raises InputError."""
    import matplotlib
    from matplotlib import style

    if isinstance(value, str):
        if value == "default":
            return {}
        if value not in style.library:
            raise InputError(f"plot(style={shortened(value)}): no such style; allowed: {', '.join(style.available)}")
        # Letters of a size of its own belong to figures of Matplotlib's own size.
        return {str(name): setting for name, setting in style.library[value].items() if name != "font.size"}
    if not isinstance(value, Mapping):
        raise InputError(f"plot(style={shortened(value)}): allowed: the name of a Matplotlib style, or its settings")
    for name, setting in value.items():
        if name not in matplotlib.rcParams:
            raise InputError(f"plot(style=...): {shortened(name)}: no setting of Matplotlib's (matplotlib.rcParams)")
        try:
            matplotlib.RcParams({name: setting})
        except ValueError as problem:
            raise InputError(f"plot(style=...): {name} = {shortened(setting)}: {problem}") from None
    return dict(value)


def _check_names(option: str, value: object, policies: Sequence[str]) -> None:
    """Raise InputError unless all names in an option are policies of the picture, and what they map to can be."""
    from matplotlib.colors import is_color_like

    is_table = option != "policies"
    if isinstance(value, str) or not isinstance(value, Mapping if is_table else Sequence) or not value:
        form = f"{{policy: {'text' if option == 'labels' else 'colour'}}}" if is_table else "a list of names"
        raise InputError(f"plot({option}={shortened(value)}): allowed: {form}")
    names: list[Any] = list(value)
    problems = [_unknown(option, name, policies) for name in names if name not in policies]
    if len(set(map(str, names))) < len(names):
        problems.append(f"plot({option}={shortened(names)}): a policy is named twice")
    if isinstance(value, Mapping):
        for name, entry in value.items():
            if option == "colours" and not is_color_like(entry):
                problems.append(f"plot(colours=...): {name}: {shortened(entry)}: no colour that Matplotlib knows")
            if option == "labels" and not isinstance(entry, str):
                problems.append(f"plot(labels=...): {name}: {shortened(entry)}: has to be a text")
    if problems:
        raise InputError(problems)


def _unknown(option: str, name: object, policies: Sequence[str]) -> str:
    return f"plot({option}=...): {shortened(name)}: not in this picture; allowed: {', '.join(policies)}"
