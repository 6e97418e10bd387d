"""Small traces in each format that is read, to be spoilt, and what makes cells of them nasty."""

from __future__ import annotations

import io
from typing import NamedTuple

from cluster_samples import CLUSTERS
from log_samples import LOGS
from scenario_files import TRACE


class Sample(NamedTuple):
    """A trace: the name of its file, its bytes, and what stands between its cells (nothing: it has none)."""

    name: str
    data: bytes
    between: bytes


HBD = b"""\
run,host,submit_s,cpu_s,prog
0,0,0.5,0.1,ls
0,1,0.7,2.01,cc
1,0,0.0,0.02,
1,5,0.3,1.5,emacs
"""
SWF = b"""\
; Version: 2.2
; MaxRecords: 5
; UnixStartTime: 900000000
; Note: one
;       and more of it
1 0 0 10 2 5.5 1000 2 20 -1 1 3 4 5 1 1 -1 -1
2 5 -1 20 1 -1 -1 1 10 -1 0 3 4 5 1 1 -1 -1
3 4 3 0 1 -1 0 1 30 -1 5 3 4 5 1 1 -1 -1
4 9 3 7 -1 9 500 4 30 -1 1 3 4 5 1 1 -1 -1
5 12 0 3 1 3 -1 1 5 -1 2 3 4 5 1 1 -1 -1
"""
AFTER = b"""\
arrival_ms,cpu_ms,disk_mb,job,after,partition,resources,think_ms,recorded_run_ms
0,100,5,a,,short,gpu:2,,200
0,50,,b,a,,gpu:1;licence:0.5,30,
10,20,0,c,a b,short,,0.5,10
20,30,1.5,,c,,,,60
"""
NEXTFLOW = b"""\
task_id\thash\tname\tstatus\tsubmit\trealtime\t%cpu\tcpus\tpeak_rss\trchar\twchar\tread_bytes\twrite_bytes
1\taa/1\tA (s1)\tCOMPLETED\t2023-03-29 10:00:00.500\t1.2s\t250.0%\t4\t3 MB\t9 MB\t2 MB\t1 MB\t512 KB
2\taa/2\tA (s2)\tFAILED\t2023-03-29 10:00:01.000\t345ms\t80%\t1\t0\t1 KB\t1 KB\t-\t-
3\taa/3\tB\tCACHED\t2023-03-29 10:00:02.000\t-\t-\t1\t-\t-\t-\t-\t-
"""
LOTARU = b"""\
Label,Machine,Workflow,Task,Realtime,%cpu,rss,rchar,wchar,cpus,read_bytes,write_bytes,peak_rss,TaskInputSize
train-1,m,w,A:B,500,271.4,1000000,300,200,8,4096,4000000,3000000,55
train-2,m,w,A:C,900,50,1000000,300,200,8,0,0,0,55
"""
SACCT = b"""\
JobID|JobName|State|Submit|Start|End|ElapsedRaw|NCPUS|NTasks|TotalCPU|MaxRSS|MaxDiskRead|MaxDiskWrite|Timelimit
1|a|COMPLETED|2023-05-01T10:00:00|2023-05-01T10:00:01|2023-05-01T10:00:03|2|2||00:02.500||||1-00:00:00
1.batch|batch|COMPLETED|2023-05-01T10:00:01|2023-05-01T10:00:01|2023-05-01T10:00:03|2|2|1|00:02.500|2000K|1M|0.5M|
2|b|CANCELLED by 7|2023-05-01T10:00:01|None|Unknown|0|0||00:00:00||||UNLIMITED
3|c|TIMEOUT|2023-05-01T10:00:02|2023-05-01T10:00:02|2023-05-01T10:00:03|1|1|||||00:10:00
"""
SWIM = b"job0\t0\t0\t6000000\t300000\t100000\njob1\t1\t1\t0\t0\t0\njob2\t2\t1\t500\t0\t70000\n"
SWIM_PATHS = (
    b"job0\t0\t0\t6000000\t300000\t100000\tinputPath1\t\t\njob1\t1\t1\t0\t0\t0\tinputPath2\njob2\t2\t1\t5\t0\t7\n"
)
SWF_ODD = b"""\
6251812952 1356996147 0 56011 64 1 68719476736 64 4294967295 4294967295 1 1 1 1 1 -1 -1 -1
2 1356996207 0 1164297 -1 1 -1 4 2147483647 -1 1 1 1 1 1 -1 6251812952 30
3 0 0 60 1 1 -1 2147483647 60 -1 1 1 1 1 1 -1 2 0
"""
SACCT_AGAIN = b"""\
JobID|JobName|State|Submit|Start|End|ElapsedRaw|NCPUS|NTasks|TotalCPU|MaxRSS
7|a|REQUEUED|2023-03-01T08:00:00|2023-03-01T08:10:00|2023-03-01T08:10:02|2|1||00:02|
7.0|a|FAILED|2023-03-01T08:10:00|2023-03-01T08:10:00|2023-03-01T08:10:02|2|1|1|00:01|3960K
7|a|COMPLETED|2023-03-01T08:15:00|2023-03-01T08:20:00|2023-03-01T08:20:03|3|1||00:03|
8|b|RESIZING|2023-03-01T08:15:00|2023-03-01T08:20:00|Unknown|3|4||00:00|
"""
SACCT_BARE = SACCT_AGAIN.partition(b"\n")[2]
SACCT_JSON = b"""\
{"meta": {"slurm": {"version": {"major": "24"}}}, "jobs": [
 {"job_id": 1, "name": "a", "user": "u", "state": {"current": ["COMPLETED"]}, "required": {"CPUs": 2},
  "time": {"submission": 1700000000, "start": 1700000001, "end": 1700000003, "elapsed": 2,
           "limit": {"set": true, "infinite": false, "number": 5}, "total": {"seconds": 3, "microseconds": 500000}},
  "tres": {"allocated": [{"type": "cpu", "name": "", "count": 2}, {"type": "gres", "name": "gpu", "count": 1}]},
  "steps": [{"tasks": {"count": 1}, "time": {"total": {"seconds": 3, "microseconds": 0}},
             "tres": {"requested": {"max": [{"type": "mem", "name": "", "count": 4000000}]}}}]},
 {"job_id": 2, "state": "PENDING", "array": {"job_id": 2, "task_id": 7}, "time": {"submission": 1700000002}}]}
"""
GWA = b"""\
Timestamp [ms];\tCPU cores;\tCPU usage [%];\tMemory usage [KB];\t\
Disk read throughput [KB/s];\tDisk write throughput [KB/s]
1375308000;\t2;\t10.5;\t20000;\t1.0;\t0.0
1375308001;\t2;\t110;\t10000;\t0.5;\t2.5
1375308002;\t0;\t0;\t0;\t0;\t0
1375308003;\t1;\t0;\t5000;\t0;\t0
"""
WFFORMAT = b"""\
{"name": "w", "schemaVersion": "1.5", "workflow": {
 "specification": {"tasks": [
  {"name": "a", "id": "a_1", "parents": [], "children": ["b_2"]},
  {"name": "b", "id": "b_2", "parents": ["a_1"], "children": []},
  {"name": "c", "id": "c_3", "parents": ["b_2", "a_1"], "children": []}]},
 "execution": {"makespanInSeconds": 5, "tasks": [
  {"id": "a_1", "runtimeInSeconds": 0.5, "avgCPU": 250.0, "coreCount": 4, "memoryInBytes": 9000000},
  {"id": "b_2", "runtimeInSeconds": 0, "avgCPU": 90.0},
  {"id": "c_3", "runtimeInSeconds": 0.2, "readBytes": 5000000, "writtenBytes": 1000000}]}}}
"""


def parquet(twice: str = "", odd: object = None) -> bytes:
    """Parquet of our columns; equal bytes each time.

    Args:
        twice: a column that it has twice.
        odd: in place of the cells of `job`, three of them, or one three times.
    """
    import pyarrow as pa
    from pyarrow import parquet

    held = io.BytesIO()
    columns: dict[str, object] = {"arrival_ms": [0.0, 1.0, 2.0], "cpu_ms": [5.0, 6.0, 7.0], "job": ["a", "b", None]}
    if odd is not None:
        columns["job"] = odd if isinstance(odd, list) else [odd] * 3
    names = [*columns, *([twice] if twice else [])]
    parquet.write_table(pa.table([pa.array(columns.get(name, [1, 2, 3])) for name in names], names=names), held)
    return held.getvalue()


ODD_CELLS = (b"\xff", {"a": 1}, [["a"]] * 3, [1.5, 2.5, None], True, ["", " ", "a b"])


SAMPLES = {
    "csv": Sample("t.csv", TRACE, b","),
    "after": Sample("t.csv", AFTER, b","),
    "swf": Sample("t.swf", SWF, b" "),
    "hbd": Sample("h.csv", HBD, b","),
    "nextflow": Sample("trace.txt", NEXTFLOW, b"\t"),
    "lotaru": Sample("l.csv", LOTARU, b","),
    "sacct": Sample("jobs.txt", SACCT, b"|"),
    "swim": Sample("s.tsv", SWIM, b"\t"),
    "gwa": Sample("vm.csv", GWA, b";"),
    "wfformat": Sample("w.json", WFFORMAT, b""),
    "swim-paths": Sample("s.tsv", SWIM_PATHS, b"\t"),
    "swf-odd": Sample("t.swf", SWF_ODD, b" "),
    "sacct-again": Sample("jobs.txt", SACCT_AGAIN, b"|"),
    "sacct-bare": Sample("jobs.txt", SACCT_BARE, b"|"),
    "sacct-json": Sample("jobs.json", SACCT_JSON, b""),
    "parquet": Sample("p.parquet", b"", b""),  # made when it is asked for
} | {name: Sample(*log) for name, log in (LOGS | CLUSTERS).items()}
# Beside the cells that are nasty anywhere.
CELLS = (
    *("1.2 GB", "-1 MB", "9 EB", "1e400 GB", "3h 2m", "-5s", "1e999ms", "99999d", "00:00:00", "1-00:00:00", "1:2:3:4"),
    *("75.2%", "-1%", "1e300%", "1970-01-01T00:00:00", "2099-01-01 00:00:00", "2023-05-01T10:00:00+02:00", "Unknown"),
    *(
        "2023-05-01T10:00:00Z",
        "0000-00-00 00:00:00",
        "9999-12-31T23:59:59.999999999",
        "CANCELLED by 0",
        "PENDING",
        "1.2",
    ),
    *(
        "9223372036854775807",
        "9223372036854775808",
        "1" * 400,
        "1.batch",
        "a_1",
        "b a",
        "a a",
        "b",
        "c",
        " ",
        "COMPLETED",
    ),
)
