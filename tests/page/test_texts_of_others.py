"""Names and texts of scenarios, programs, traces, networks and policies are text on the page, whatever they hold."""

import json

import pytest
from browser import ABSENT, Tab
from command import SCENARIO, fill, served

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"needs {', '.join(ABSENT)}: pip install '.[viz,browser]'")
BAD = "<img src=x onerror=window.ran=1><script>window.ran=2</script>{{7*7}}'&\"</div>"
POLICY = f"""
from cluster_abm.policies import Decision, Policy

BAD = {BAD!r}

class Scripted(Policy):
    name = "scripted" + BAD
    source = summary = BAD

    def place(self, task, view):
        if view.now_ms > 20_000:
            raise RuntimeError(BAD)
        return Decision(view.me, rule="rule" + BAD, reason="reason" + BAD)
"""


@pytest.fixture(scope="module")
def scripted(tmp_path_factory):
    """Where a page is served in which everything that has a name has a script for one."""
    folder = tmp_path_factory.mktemp("scripted")
    fill(folder)
    (folder / "faulty.py").write_text(POLICY)
    (folder / "faulty-1.0.dist-info" / "entry_points.txt").write_text(
        "[cluster_abm.policies]\nscripted = faulty:Scripted\n"
    )
    quoted = BAD.replace('"', '""')
    (folder / "programs.csv").write_text(f'program,cpu_ms,memory_mb,accesses\n"{quoted}",400,2.0,4\n')
    rows = "".join(f'{200 * job},400,{job % 8},"{quoted}"\n' for job in range(1000))
    (folder / "jobs.csv").write_text(f"arrival_ms,cpu_ms,home,name\n{rows}")
    ids = [f"{name}{BAD}" for name in "ab"]
    graph = {"directed": False, "multigraph": False, "graph": {"name": BAD}, "nodes": [{"id": name} for name in ids],
             "edges": [{"source": ids[0], "target": ids[1]}]}  # fmt: skip
    (folder / "net.json").write_text(json.dumps(graph))
    name, summary, policy = (json.dumps(words + BAD) for words in ("name", "summary", "scripted"))
    text = SCENARIO.replace('name = "page"', f"name = {name}\nsummary = {summary}", 1).replace('"jsq"', policy)
    (folder / "page.toml").write_text(text)
    with served(
        folder, "--set", "workload.programs.file=programs.csv", "--trace", "jobs.csv",
        "--set", "interconnect.file=net.json", "--set", "interconnect.nodes_per_vertex=4",
    ) as (_, port):  # fmt: skip
        yield f"http://127.0.0.1:{port}"


def test_scripts_in_names_stay_text(chromium, scripted):
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    tab = Tab(context, scripted)
    page = tab.page
    tab.until(lambda: page.title().endswith(f"name{BAD}"))
    assert f"name{BAD}" in page.locator(".brand").inner_text()
    # The run ends where the policy raises, and its words are text.
    tab.until(lambda: f"RuntimeError: {BAD}" in tab.progress)
    assert tab.policies == [f"scripted{BAD}"]
    assert f"scripted{BAD}" in page.locator(".stages").inner_text()
    page.locator("body").press("n")
    page.wait_for_timeout(500)
    assert BAD in page.locator(".side").inner_text()
    field = tab.labelled("Policy")
    field.click()
    field.fill("scripted")
    assert BAD in page.locator("#list-policy").inner_text()
    field.press("Escape")
    tab.enter("Nodes", BAD)
    tab.until(lambda: "a whole number is needed" in tab.wrong("nodes"))
    assert BAD[:20] in tab.wrong("nodes")
    assert page.evaluate("window.ran") is None
    assert page.locator("img[src=x]").count() == 0
    assert page.evaluate("[...document.scripts].filter(one => one.text.startsWith('window.ran')).length") == 0
    assert "49" not in page.title()
    assert tab.errors == []
    assert tab.elsewhere == []
    context.close()
