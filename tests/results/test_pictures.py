"""Pictures of ordinary and of awkward tables: every label inside the picture, none over another, equal bytes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.results import pictures
from cluster_abm.results.looks import colours_of
from cluster_abm.results.pictures import Curve, draw_comparison, draw_reproduction, draw_run
from cluster_abm.results.style import plain

NAMES = [
    "none",
    "clb",
    "mlb",
    "iolb",
    "random",
    "round-robin",
    "jsq",
    "power-of-d",
    "wal-pm",
    "lightest-disk",
    "cm",
    "x",
]
SERIES = ["clb", "mlb", "iolb"]


@pytest.fixture
def figures(monkeypatch):
    """The figures as they are saved."""
    found = []
    save = pictures.style.save

    def note(figure, path):
        found.append(figure)
        return save(figure, path)

    monkeypatch.setattr(pictures.style, "save", note)
    return found


def assert_readable(figure):
    """Texts lie within the picture, tick labels and titles of a panel apart from each other."""
    figure.set_dpi(130)
    renderer = FigureCanvasAgg(figure).get_renderer()
    width, height = figure.canvas.get_width_height()
    for panel in figure.axes:
        if not panel.get_visible():
            continue
        labels = []
        for axis, limits in ((panel.xaxis, panel.get_xlim()), (panel.yaxis, panel.get_ylim())):
            low, high = sorted(limits)
            # A panel that shares its axis has places without labels.
            ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
            labels += [text for place, text in ticks if low <= place <= high and text.get_visible() and text.get_text()]
        others = [text for text in (panel.xaxis.label, panel.yaxis.label, *panel.texts) if text.get_text()]
        boxes = [text.get_window_extent(renderer) for text in [*labels, *others]]
        for box in boxes:
            assert -1 <= box.x0 <= box.x1 <= width + 1
            assert -1 <= box.y0 <= box.y1 <= height + 1
        assert not any(a.overlaps(b) for a, b in combinations(boxes[: len(labels)], 2))
    for legend in figure.legends:
        box = legend.get_window_extent(renderer)
        assert 0 <= box.x0 <= box.x1 <= width
        assert not any(box.overlaps(panel.get_tightbbox(renderer)) for panel in figure.axes if panel.get_visible())


def comparison(policies, seeds, idle=(), scale=1.0):
    """Runs and slowdowns; `idle` names (policy, seed) of runs in which no job finished."""
    draw = np.random.default_rng(7)
    rows = []
    for seed in range(1, seeds + 1):
        for policy in policies:
            dead = (policy, seed) in idle
            row = {"policy": policy, "seed": seed, "mean_slowdown": None if dead else scale * draw.uniform(2, 30)}
            rows.append(row | {f"breakdown_ms.{part}": np.nan if dead else draw.uniform(0, 3e3) for part in BREAKDOWN})
    runs = pd.DataFrame(rows).astype({"mean_slowdown": float})
    slowdowns = {}
    for policy in policies:
        values = runs.loc[runs["policy"] == policy, "mean_slowdown"].to_numpy()
        half = 12.7 * values.std() if seeds > 1 else 0.0
        slowdowns[policy] = (values.mean(), (values.mean() - half, values.mean() + half) if seeds > 1 else None)
    return runs, slowdowns


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 8])
@pytest.mark.parametrize("count", [1, pytest.param(2, marks=pytest.mark.slow), 12])
def test_comparison_is_readable_however_many_policies(tmp_path, figures, count, seeds):
    draw_comparison(tmp_path / "a.png", "a title", *comparison(NAMES[:count], seeds, scale=3e3))
    (figure,) = figures
    assert_readable(figure)
    bars, _, dots = figure.axes
    assert len(bars.containers) == count * (1 if seeds == 1 else 2)
    assert all(bar.get_width() < bars.get_xlim()[1] for bar in bars.patches)
    assert len(dots.lines) == (0 if count == 1 else 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "idle",
    [[("none", 1)], [("none", 1), ("none", 2)], [(name, seed) for name in [*SERIES, "none"] for seed in (1, 2)]],
    ids=["one run", "one policy", "all"],
)
def test_comparison_says_where_no_job_finished(tmp_path, figures, idle):
    draw_comparison(tmp_path / "a.png", "a title", *comparison(["none", *SERIES], 2, idle))
    assert_readable(figures[0])
    assert any("no job finished" in text.get_text() for text in figures[0].axes[0].texts)


def curves(x, spread, names=SERIES):
    found = []
    for number, name in enumerate(names):
        # The last two coincide.
        values = [(30.0 if number == 0 else 10.0) + place for place in range(len(x))]
        intervals = [None if spread is None else (value - spread, value + spread) for value in values]
        found.append(Curve(name, name, x, [value + 1 for value in values], values, intervals))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("spread", [None, 1.0, 100.0], ids=["one seed", "narrow", "wide"])
@pytest.mark.parametrize("points", [1, *(pytest.param(points, marks=pytest.mark.slow) for points in (3, 10))])
def test_reproduction_is_readable_and_scaled_by_its_curves(tmp_path, figures, points, spread):
    x = [0.8 + 0.05 * place for place in range(points)]
    draw_reproduction(tmp_path / "a.png", "a long title " * 15, "λ [requests per ms]", "slowdown", curves(x, spread))
    (figure,) = figures
    assert_readable(figure)
    low, high = figure.axes[0].get_ylim()
    assert low == 0
    assert 30 + points < high < 2 * (30 + points)
    assert not figure.axes[0].collections
    assert all(bool(panel.collections) == (spread is not None) for panel in figure.axes[1:])
    told_apart = {(line.get_marker(), line.get_color(), line.get_markersize()) for line in figure.axes[0].lines}
    assert len(told_apart) == len(SERIES)


@pytest.mark.slow
@pytest.mark.parametrize("names", [SERIES[:1], NAMES[:7], ["clb", "clb"]], ids=len)
def test_reproduction_of_any_number_of_series(tmp_path, figures, names):
    draw_reproduction(tmp_path / "a.png", "a title", "λ", "slowdown", curves([1.0, 2.0], 50.0, names))
    assert_readable(figures[0])


@pytest.mark.slow
def test_reproduction_with_missing_values(tmp_path, figures):
    gaps = Curve("clb", "clb", [1.0, 2.0, 3.0], [None, 2.0, 3.0], [1.0, float("nan"), 3.0], [None, None, (2.0, 4.0)])
    nothing = Curve("mlb", "mlb", [1.0], [None], [None], [(float("nan"), float("nan"))])
    draw_reproduction(tmp_path / "a.png", "a title", "λ", "slowdown", [gaps, nothing])
    draw_reproduction(tmp_path / "b.png", "a title", "λ", "slowdown", [nothing])
    for figure in figures:
        assert_readable(figure)


def measured(nodes, times_ms):
    """A nodes_frame: node n has n % 5 tasks, half its disk busy, its CPU a tenth."""
    node = np.tile(np.arange(nodes), len(times_ms))
    time_ms = np.repeat(np.array(times_ms, float), nodes)
    return pd.DataFrame(
        {"time_ms": time_ms, "node": node, "tasks": node % 5, "cpu_busy_ms": time_ms / 10, "disk_busy_ms": time_ms / 2}
    )


@pytest.mark.slow
@pytest.mark.parametrize("times_ms", [[120.0], [1e4, 2e4, 29_230.0], np.arange(1, 3001) * 1e4], ids=len)
@pytest.mark.parametrize("nodes", [6, *(pytest.param(nodes, marks=pytest.mark.slow) for nodes in (1, 256))])
def test_run_is_readable(tmp_path, figures, nodes, times_ms):
    slowdown = np.linspace(1, 60, 50)
    draw_run(tmp_path / "a.png", "a title", measured(nodes, times_ms), slowdown)
    (figure,) = figures
    assert_readable(figure)
    for line, percent in zip(figure.axes[0].patches, (10, 50), strict=True):
        assert line.get_data()[0] == pytest.approx(percent)
    assert all(tick == int(tick) for tick in figure.axes[2].get_yticks())


@pytest.mark.slow
def test_run_on_many_cores_says_that_all_of_them_and_any_channel_count(tmp_path, figures):
    draw_run(tmp_path / "a.png", "a title", measured(6, [1e4, 2e4]), np.linspace(1, 60, 50), cores=4.0, channels=9)
    (figure,) = figures
    assert_readable(figure)
    busy = figure.axes[0]
    assert [patch.get_label() for patch in busy.patches] == ["CPU, all cores", "disk, a channel or more"]
    for line, percent in zip(busy.patches, (2.5, 50), strict=True):
        assert line.get_data()[0] == pytest.approx(percent)
    # Title and legend stand in one line, side by side.
    title = max((busy.title, busy._left_title, busy._right_title), key=lambda one: len(one.get_text()))
    assert title.get_window_extent().x1 < busy.get_legend().get_window_extent().x0


@pytest.mark.slow
@pytest.mark.parametrize("slowdown", [[], [1.0], [3.0, 3.0]], ids=str)
def test_run_of_few_tasks(tmp_path, figures, slowdown):
    draw_run(tmp_path / "a.png", "a title", measured(2, [1e4]), np.array(slowdown, float))
    assert_readable(figures[0])


@pytest.mark.slow
def test_equal_tables_give_equal_bytes(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        draw_comparison(tmp_path / name / "compare.png", "a title", *comparison(SERIES, 3))
        draw_reproduction(tmp_path / name / "papers.png", "a title", "λ", "slowdown", curves([1.0, 2.0], 1.0))
        draw_run(tmp_path / name / "run.png", "a title", measured(3, [1e4, 2e4]), np.array([1.0, 2.0]))
    for picture in ("compare.png", "papers.png", "run.png"):
        assert (tmp_path / "a" / picture).read_bytes() == (tmp_path / "b" / picture).read_bytes()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (3.0, "3"), (3.3128, "3.313"), (34_462.7, "34,463"), (0.0089, "0.0089"), (8.9e-5, "0.000089"),
        (-12.345, "-12.35"), (1e15, "1.000e+15"), (float("nan"), "nan"), (9.99999, "10"), (1000.0, "1,000"),
    ],
)  # fmt: skip
def test_plain_numbers(value, text):
    assert plain(value) == text


def test_colours_are_all_different():
    assert len(set(colours_of([*NAMES[:8], "clb", "wal-pm", "lightest-disk"]))) == 11


@pytest.mark.slow
def test_named_points_are_not_joined_and_long_names_fit(tmp_path, figures):
    names = ["cholesky", "a name of many words", "lu"]
    curves = [
        Curve(f"memory-based, CPU {share} %", "memory-based", [0, 1, 2], [None] * 3, [1.2, 7.0, 1686.0], [None] * 3)
        for share in range(10, 100, 10)
    ]
    draw_reproduction(tmp_path / "names.png", "Applications", "application", "mean slowdown", curves, names)
    figure = figures[0]
    assert_readable(figure)
    panel = figure.axes[0]
    assert {line.get_linestyle() for line in panel.lines} == {"None"}
    # Panels above others leave the names to the lowest one.
    named = [[label.get_text() for label in axes.get_xticklabels() if label.get_visible()] for axes in figure.axes]
    labels = next(labels for labels in named if any(labels))
    assert [label.replace("\n", " ") for label in labels] == names
    assert "\n" in labels[1]
    assert panel.get_yscale() == "log"
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.canvas.get_width_height()[0]
