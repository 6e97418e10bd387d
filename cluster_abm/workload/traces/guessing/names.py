"""What the name of a column says: which field of a job it may be, and in which unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

# How much a name says: it says the field and nothing else, it very likely means it, it may mean it.
SAYS, LIKELY, MAYBE = 0.9, 0.75, 0.6
_TIMES = {
    "ns": "ns",
    "nsec": "ns",
    "nanos": "ns",
    "nanoseconds": "ns",
    "us": "us",
    "usec": "us",
    "micros": "us",
    "microseconds": "us",
    "ms": "ms",
    "msec": "ms",
    "millis": "ms",
    "milliseconds": "ms",
    "s": "s",
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "min": "min",
    "mins": "min",
    "minute": "min",
    "minutes": "min",
    "h": "h",
    "hr": "h",
    "hrs": "h",
    "hour": "h",
    "hours": "h",
    "days": "d",
}
_SIZES = {
    "b": "B",
    "bytes": "B",
    "byte": "B",
    "kb": "kB",
    "mb": "MB",
    "gb": "GB",
    "tb": "TB",
    "kib": "KiB",
    "mib": "MiB",
    "gib": "GiB",
    "tib": "TiB",
}
_COUNTS = {"milli": "milli", "millis": "milli", "millicores": "milli", "percent": "percent", "pct": "percent"}
# Marks of a kind that says nothing here: Slurm's raw columns, epochs.
_IDLE = ("raw", "genid", "epoch", "unix", "utc", "seconds_since_epoch")
_NOTHING = re.compile(r"(?:c|col|column|x|v|var|f|field|unnamed)?_*\d+", re.ASCII)
_COUNT = r"(?:num|number|n|no|nr|count|number_of|num_of)"
_CPUS = (
    r"(?:v_?cpus?|cpus?|cores?|processors?|procs?|cpu_cores?|ncpus?|nprocs?|ncores?|slots|vm_?core_?count|core_count)"
)
_ASKED = r"(?:req|requested|request|requests|requirement|plan|planned|alloc|allocated|used|total|needed)"
_GPUS = r"(?:gpus?|ngpus?|accelerators?)"
# Field -> how much -> forms of the name, in lower case with _ between its words, without its unit. The first that
# matches counts.
_FORMS: dict[str, tuple[tuple[float, str], ...]] = {
    "submit": (
        (
            SAYS,
            r"(?:time_|date_)?(?:submit|submitted|submission|submits?)(?:_?(?:time|timestamp|date|at|datetime|ts))?",
        ),
        (SAYS, r"(?:job_|task_)?(?:submit|submission|arrival|arrive|queued|qtime)_?(?:time|timestamp|date|at)?"),
        (
            LIKELY,
            r"(?:\w+_)?(?:create|created|creation|gmt_create|vm_?created|arrival|arrived|arrive|enqueued?|queued|released?"
            r"|release)(?:_?(?:time|timestamp|date|at|datetime|ts))?",
        ),
        (LIKELY, r"[qc]_?time|sub_?time|\w+_submit_time|submit_\w*time|tsubmit|t_submit"),
        (MAYBE, r"timestamp|time|time_?stamp|date|datetime|ts|event_time|requested_at"),
    ),
    "start": (
        (SAYS, r"(?:time_|date_)?(?:start|started|starting|begin|began)(?:_?(?:time|timestamp|date|at|datetime|ts))?"),
        (LIKELY, r"(?:\w+_)?(?:start|started|starting|begin)_?(?:time|timestamp|date|at)|tstart|t_start"),
        (LIKELY, r"(?:scheduled?|dispatch|dispatched|launch|launched|execution)(?:_?(?:start|time|timestamp|at))"),
    ),
    "end": (
        (
            SAYS,
            r"(?:time_|date_)?(?:end|ended|ending|finish|finished|completion|stop|stopped)(?:_?(?:time|timestamp|date|at|ts))?",
        ),
        (
            LIKELY,
            r"(?:\w+_)?(?:end|ended|finish|finished|complete|completed|completion|stop|stopped)_?(?:time|timestamp|date|at)",
        ),
        (
            LIKELY,
            r"(?:\w+_)?(?:deletion|deleted|delete|termination|terminated|terminate|completed|done)(?:_?(?:time|timestamp|at))?",
        ),
    ),
    "run": (
        (
            SAYS,
            r"(?:run|running|runtime|run_?time|running_time|elapsed|elapsed_time|duration|execution_time|exec_time)",
        ),
        (SAYS, r"(?:job_|task_|actual_|real_)(?:runtime|run_time|duration|elapsed)|realtime|real_time|service_time"),
        (LIKELY, r"wall_?(?:clock)?_?time_(?:used|actual)|used_wall\w*|wallclock|runtime_\w+|\w+_runtime|lifetime"),
        (MAYBE, r"wall_?(?:clock)?_?time"),
    ),
    "requested": (
        (SAYS, r"time_?limit|wall_?limit|wall_?clock_?(?:req|request|requested|limit)|requested_(?:run|wall)?_?time"),
        (SAYS, r"(?:req|requested|request)_?(?:wall|run|clock)\w*|(?:wall|run)_?time_?(?:req|requested|request|limit)"),
        (
            LIKELY,
            r"limit|max_?(?:run|wall)?_?time|estimated?_?(?:run)?_?time|requested_seconds|duration_estimate|walltime",
        ),
    ),
    "cpu": (
        (SAYS, r"(?:total_?|used_?)?cpu_?(?:time|seconds|secs)_?(?:used|total)?|total_?cpu|user_cpu"),
        (LIKELY, r"(?:average|avg)_cpu_time(?:_used)?|ru_utime_stime"),
    ),
    "cores": (
        (SAYS, rf"{_CPUS}(?:_?{_COUNT})?|{_COUNT}_?{_CPUS}"),
        (SAYS, rf"{_ASKED}_?(?:{_COUNT}_?(?:of_?)?)?{_CPUS}|{_CPUS}_?(?:{_COUNT}_?)?{_ASKED}"),
        (LIKELY, rf"(?:requested_|allocated_)?number_of_(?:{_CPUS}|resources)(?:_(?:requested|allocated))?\w*"),
        (LIKELY, r"res|resources|pe|width|parallelism|vm_?virtual_?core_?count(?:_bucket)?|size"),
        (MAYBE, rf"cpu_limit|(?:{_COUNT}_?|n|{_ASKED}_)?nodes?(?:_?{_COUNT}|_{_ASKED})?|nnodes"),
    ),
    "tasks": (
        (SAYS, rf"n?tasks|(?:{_COUNT}_?)(?:tasks?|instances?|replicas|workers?|pods)|instances|replicas"),
        (SAYS, rf"(?:tasks?|inst|instances?|replicas?|workers?)_?{_COUNT}"),
        (LIKELY, r"gang_size|parallel_tasks|map_reduce_tasks"),
    ),
    "memory": (
        (SAYS, r"mem|memory|ram"),
        (SAYS, rf"{_ASKED}_?(?:mem|memory|ram)|(?:mem|memory|ram)_?{_ASKED}"),
        (
            LIKELY,
            r"(?:max|peak|ave|avg)_?(?:rss|mem|memory)(?:_used)?|(?:mem|memory)_(?:used|max|peak)|maxmem|vm_?memory(?:_bucket)?",
        ),
        (MAYBE, r"rss|memory_limit|mem_limit"),
    ),
    "disk_read": (
        (SAYS, r"(?:disk_?)?reads?|(?:disk_|io_)?(?:bytes_)?read(?:_bytes)?|bytes_read|(?:disk|io)_read"),
        (LIKELY, r"max_?disk_?read|ave_?disk_?read|input(?:_size|_bytes)?"),
    ),
    "disk_written": (
        (
            SAYS,
            r"(?:disk_?)?(?:writes?|written)|(?:disk_|io_)?(?:bytes_)?(?:write|written)(?:_bytes)?|(?:disk|io)_write",
        ),
        (LIKELY, r"max_?disk_?write|ave_?disk_?write|output(?:_size|_bytes)?"),
    ),
    "job": (
        (SAYS, r"job_?(?:id|number|num|no|idx|index)?|id_job"),
        (
            LIKELY,
            r"(?:\w+_)?(?:job|task|instance|pod|vm|collection)_?(?:id|sn|number|name)|vmid|(?:row_)?id|uuid|name|array_job_id",
        ),
    ),
    "workflow": ((SAYS, r"workflow(?:_?id)?|wf_?id|dag_?(?:id)?"),),
    "parents": ((SAYS, r"parents?(?:_?(?:ids?|jobs?|tasks?))?|dependenc(?:y|ies)|depends_?on|deps|predecessors?"),),
    "user": (
        (SAYS, r"user|user_?(?:id|name)|username|uid|owner|id_user|submitter|job_owner"),
        (LIKELY, r"subscription_?(?:id)?|\w+_user|user_\w+|customer(?:_id)?"),
    ),
    "group": (
        (SAYS, r"group|group_?(?:id|name)|gid|account|account_?(?:name|id)|acct|project(?:_?(?:id|name))?|id_group"),
        (LIKELY, r"organi[sz]ation|department|team|vc|virtual_cluster|deployment_?(?:id)?|charge_account"),
    ),
    "partition": (
        (SAYS, r"partition(?:_?(?:id|name))?|queue(?:_?name)|qname|job_?queue"),
        (LIKELY, r"queue|pool|job_class"),
    ),
    "name": (
        (SAYS, r"job_?name|app(?:lication)?(?:_?(?:id|name))?|prog|program|executable|exe|command"),
        (LIKELY, r"task_name|model_?(?:name)?|task|label|process"),
    ),
    "resources.gpu": (
        (SAYS, rf"{_GPUS}(?:_?{_COUNT})?|{_COUNT}_?{_GPUS}"),
        (SAYS, rf"{_ASKED}_?(?:{_COUNT}_?)?{_GPUS}|{_GPUS}_?(?:{_COUNT}_?)?{_ASKED}"),
        (MAYBE, r"gpu_limit"),
    ),
    "state": ((SAYS, r"(?:job_?|task_?|final_?|end_?|exit_?|pod_?|predict_?)?(?:state|status|phase|outcome)|success"),),
}
_BY_CALLS = {"rchar": "disk_read", "wchar": "disk_written"}


@dataclass(frozen=True)
class NameMeaning:
    """One thing that a name may mean."""

    field: str  # of a map; also "state"
    sure: float  # SAYS, LIKELY or MAYBE
    unit: str = ""  # as the name says it; "" if it does not
    per: str = "job"  # whose it is, as `Field.per`


@lru_cache(maxsize=10_000)
def meanings(name: str) -> tuple[NameMeaning, ...]:
    """What a column's name may mean, the likeliest first; empty if it says nothing."""
    plain = plain_name(name)
    if says_nothing(name):
        return ()
    if plain in _BY_CALLS:
        return (NameMeaning(_BY_CALLS[plain], LIKELY, "B"),)
    per = (
        "core"
        if "per_cpu" in plain or "per_core" in plain
        else "task"
        if re.search(r"per_(?:task|inst)", plain)
        else ""
    )
    found: dict[str, NameMeaning] = {}
    if re.fullmatch(rf"(?:used_|total_)?cpu_(?:{'|'.join(_TIMES)})", plain):
        found["cpu"] = NameMeaning("cpu", SAYS, _TIMES[plain.rpartition("_")[2]])
    for stem, unit in _stems(plain):
        for field in _FORMS:
            sure = _how_sure(field, stem) if not unit or _measures(field, unit) else 0.0
            known = found.get(field)
            if sure > (known.sure if known else 0.0) or (known and unit and not known.unit and sure == known.sure):
                found[field] = NameMeaning(field, sure, _fitting(field, unit), per or "job")
    return tuple(sorted(found.values(), key=lambda one: -one.sure))


def says_nothing(name: str) -> bool:
    """Whether a name only counts, as c1 or column_2 do, or is empty."""
    plain = plain_name(name)
    return not plain or _NOTHING.fullmatch(plain) is not None


def plain_name(name: str) -> str:
    """A name in lower case with _ between its words: ReqCPUS, ReqCPUs and `req cpus` are req_cpus.

    A word begins at a capital after a small letter, and at the last of several capitals if small letters follow: QTime
    is q_time. A single s after capitals belongs to them: it makes a plural (NCPUs). CPU and GPU are words of their own
    if small letters follow: CPUtime is cpu_time.
    """
    spaced = re.sub(r"([CG]PU)(?=[a-z]{2})", r"\1_", name.replace("%", " percent "))
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s(?![a-z]))", "_", spaced)
    return re.sub(r"[^a-z0-9]+", "_", parted.lower()).strip("_")


def named_duration_unit(name: str) -> str:
    """The unit that a name of a duration or a time ends with, also of one that no field takes, as wait_ms; else ""."""
    *before, last = plain_name(name).split("_")
    return _TIMES.get(last, "") if before else ""


def _stems(plain: str) -> list[tuple[str, str]]:
    """The name, and what is left of it without a unit at its end, with that unit; of a path also its last part."""
    found = [(plain, "")]
    words = plain.split("_")
    while len(words) > 1 and words[-1] in _IDLE:
        words = words[:-1]
        found.append(("_".join(words), ""))
    if len(words) > 1 and words[-1] in _TIMES | _SIZES | _COUNTS:
        found.append(("_".join(words[:-1]), words[-1]))
    if len(words) > 2 and words[-2] == "per" and words[-1] in ("cpu", "core", "task", "node", "inst", "instance"):
        found.append(("_".join(words[:-2]), ""))
    return found


def _how_sure(field: str, stem: str) -> float:
    return max((sure for sure, form in _FORMS[field] if re.fullmatch(form, stem, re.ASCII)), default=0.0)


def _measures(field: str, unit: str) -> bool:
    """Whether a unit measures a field: cpu_s is a time, cpu_milli are cores."""
    if field in ("submit", "start", "end", "run", "requested", "cpu"):
        return unit in _TIMES
    return _fitting(field, unit) != ""


def _fitting(field: str, unit: str) -> str:
    """The unit as a map writes it, if it measures this field."""
    if field in ("memory", "disk_read", "disk_written"):
        return _SIZES.get(unit, "")
    if field in ("cores", "tasks", "resources.gpu"):
        return _COUNTS.get(unit, "")
    if field in ("submit", "start", "end", "run", "requested", "cpu"):
        return _TIMES.get(unit, "")
    return ""
