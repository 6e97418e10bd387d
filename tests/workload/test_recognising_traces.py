"""What a trace has to begin with to be taken for one of a format: just enough of it, and one sign less."""

from __future__ import annotations

import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.traces.format import Head
from cluster_abm.workload.traces.recognition import beginning, format_of

SWIM = "job0\t2\t2\t60\t30\t10"
NUMBERS = " ".join(["1"] * 18)
NONE = None


@pytest.mark.parametrize(("line", "format"), [
    # Two columns that only we have, or one and no other of another, or one that is needed and another one nearly: at
    # least half of all.
    ("arrival_ms,cpu_ms", "csv"), ("arival_ms,cpu_ms", "csv"), ("arrival_ms,cpu_s", "csv"), ("cpu_ms", NONE),
    ("arrival_ms,memory_mb,x,y", "csv"), ("arrival_ms,memory_mb,x,y,z", NONE), ("arrival_ms,home", "csv"),
    ("arrival_ms,cpu_ms,u,v,w,x,y,z", "csv"), ("arival_ms,cpu_ms,x,y", "csv"), ("arival_ms,cpu_ms,x,y,z", NONE),
    # Words stand in many tables.
    ("name,after", NONE), ("user,job,group,tasks,name", NONE), ("user,job,submit,memory_mb", NONE),
    ('"arrival_ms" , "cpu_ms"', "csv"), ("ARRIVAL_MS,CPU_MS", NONE),
    # Eighteen numbers, and nothing else; a remark alone.
    (NUMBERS, "swf"), (NUMBERS.removesuffix(" 1"), NONE), (f"{NUMBERS} 1", "swf"), (f"{NUMBERS} x", NONE),
    (f"{NUMBERS[:-1]}x", NONE), (NUMBERS.replace("1", "nan"), NONE), (";", "swf"), ("# x", NONE),
    # sacct: JobID and two further fields, in any case, with | between them.
    ("JobID|State|Submit", "sacct"), ("jobid|STATE| submit ", "sacct"), ("JobID|State", NONE),
    ("JobID|State|x", NONE), ("State|Submit|End|Elapsed", NONE), ("JobID|x|y", NONE),
    # Other forms are known, and told.
    ("JobID,State,Submit", "sacct"), ("JobID State  Submit", "sacct"), ("JobID\tState\tSubmit", "sacct"),
    ("JobID|NCPUS|MaxRSS", "sacct"), ("JobID|Submit|TotalCPU", "sacct"),
    # A virtual machine: its time and two further columns, with ; between them.
    ("Timestamp [ms];CPU cores;CPU usage [%]", "gwa"), ("timestamp [MS];\tCPU cores;\tMemory usage [KB]", "gwa"),
    ("Timestamp [ms];CPU cores", NONE), ("CPU cores;CPU usage [%];Memory usage [KB]", NONE),
    ("Timestamp [ms],CPU cores,CPU usage [%]", NONE), ("Timestamp [ms];CPU cores;x;y", NONE),
    # SWIM: a job's name and five numbers with tabs; paths behind them if those are numbers.
    (SWIM, "swim"), (SWIM.replace("job0", "job_17"), "swim"), (SWIM.replace("job0", "job"), NONE),
    (SWIM.replace("job0", "job0a"), NONE), (SWIM.replace("job0", "7"), NONE), (SWIM.rpartition("\t")[0], NONE),
    (SWIM.replace("\t30", "\tx"), "swim"), (f"{SWIM}\tpath", "swim"), (f"{SWIM}\tpath".replace("\t30", "\tx"), NONE),
    (SWIM.replace("\t", ","), NONE),
    # Nextflow: the time that a task ran and two further fields, with tabs or commas.
    ("realtime\t%cpu\thash", "nextflow"), ("REALTIME,%cpu,cpus", "nextflow"), ("realtime\t%cpu", NONE),
    ("realtime\t%cpu\tx", NONE), ("duration\t%cpu\thash", NONE),
    # Harchol-Balter and Downey's: more columns of theirs than of ours.
    ("run,host,submit_s,cpu_s", "hbd"), ("cpu_s", "hbd"), ("run,host,prog", NONE), ("cpu_s,x", "hbd"),
    ("cpu_s,x,y", NONE), ("cpu_s,cpu_ms,arrival_ms", "csv"), ("cpu_s,cpu_ms", NONE),
    ("PAR1", "parquet"), ("PAR", NONE), (' {"workflow"', "wfformat"), ("{}", NONE),
    ("[1]", NONE), ('x{"workflow"', NONE),
    # Slurm's JSON, and lines of its accounting without a header.
    ('{"jobs": [{"job_id": 1, "submission": 2', "sacct"), ('{"jobs": [{"job_id": 1', NONE),
    ("7|a|COMPLETED|2023-01-01T00:00:00|2023-01-01T00:00:00|2023-01-01T00:00:05|5|1||00:05|", "sacct"),
    ("7|a|DONE|2023-01-01T00:00:00|2023-01-01T00:00:00|2023-01-01T00:00:05|5|1||00:05|", NONE),
])  # fmt: skip
def test_just_enough_and_one_sign_less(line, format):
    head, _ = beginning(iter([f"{line}\n".encode()]))
    if format is not NONE:
        assert format_of(head, "log") == format
    else:
        with pytest.raises(InputError, match="format not recognised: "):
            format_of(head, "log")


@pytest.mark.parametrize(("name", "format"), [
    ("a.swf", "swf"), ("A.SWF.GZ", "swf"), ("a.csv.swf.xz", "swf"), ("a.csv", NONE), ("a.txt", NONE), ("swf", NONE),
    ("a.swf.zip", NONE),
])  # fmt: skip
def test_where_the_beginning_tells_nothing_the_name_does(name, format):
    if format is not NONE:
        assert format_of(Head(b"x\n"), name) == format
        assert format_of(Head(b""), name) == format
    else:
        with pytest.raises(InputError, match="not recognised"):
            format_of(Head(b"x\n"), name)
        with pytest.raises(InputError, match="empty"):
            format_of(Head(b""), name)


def test_what_is_read_of_the_beginning():
    """Blank lines and a mark of the byte order are passed over; all blocks come again, and no more than needed."""
    blocks = iter([b"\xef\xbb\xbf\n \n", b"a,b\r", b"x" * 100_000, b"rest"])
    head, again = beginning(blocks)
    assert head.data == b"a,b\r" + b"x" * 100_000
    assert next(blocks) == b"rest"
    assert b"".join(again) == b"\xef\xbb\xbf\n \na,b\r" + b"x" * 100_000
    assert [Head(data).line for data in (b"a,b \r\nc", b"a,b \nc", b" a,b")] == ["a,b"] * 3
    assert len(Head(b"x" * 100_001).line) == 100_000
    assert [Head(line).separator for line in (b"a\tb,c", b"a,b\nc\td", b"a")] == ["\t", ",", ","]


def test_a_message_shows_the_begin_of_the_line():
    with pytest.raises(InputError, match=f"begins with '{'x' * 50}'; what is read"):
        format_of(Head(b"x" * 51), "log")
