"""Why a task was killed: by an act of the script, by an act of an agent, or for want of memory."""

import cluster_abm as ca
from cluster_abm.model import Job
from cluster_abm.recording.html import html_of

MEMORY, AGENT, SCRIPT = "for want of memory", "by an act of an agent", "by an act of the script"


def test_each_of_three_causes_is_told(show, tmp_path):
    """Two alike runs, one without any act: all that is killed in it found no memory."""
    told = {}
    for name, script in (("plain", []), ("acts", [{"at_s": 12.0, "act": "kill", "job": 1}])):
        model = ca.ClusterModel(
            ca.load_scenario("quickstart", {
                "cluster.nodes": 4, "cluster.memory_mb": 40.0, "cluster.swap_mb": 10.0, "workload.duration_s": 20.0,
                "script": script,
            }),
            seed=1, record=True,
        )  # fmt: skip
        if script:
            model.run(until_ms=20_000.0)
            next(agent for agent in model.agents_by_type[Job] if agent.job == 8).kill()
        model.run()
        recording = model.recording()
        assert recording.meta.get("jobs_killed") == ([1, 8] if script else None)
        path = tmp_path / f"{name}.html"
        path.write_text(html_of([recording]), encoding="utf-8")
        tab = show(path)
        told[name] = tab.page.evaluate("""() => {
            const one = document.getElementById('player').player.view.recordings[0];
            const { outcome, job } = one.tables.tasks.columns;
            return Array.from(outcome, (_, row) => row).filter(row => outcome[row] === 1).map(
                row => [one.jobNumber(job[row]), m_script.killedBy(one, row)]);
        }""")
    assert {why for _, why in told["plain"]} == {MEMORY}
    assert {job: why for job, why in told["acts"] if job in (1, 8)} == {1: SCRIPT, 8: AGENT}
    assert {why for job, why in told["acts"] if job not in (1, 8)} == {MEMORY}
    tab.page.evaluate("location.hash = '#t=30&sel=task158'")
    tab.until("p.view.selection")
    assert f"was killed {AGENT} at " in tab.why
