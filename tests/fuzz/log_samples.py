"""Small accounting logs and public job tables, as the shipped maps read them: file, bytes, what is between cells."""

from __future__ import annotations

PBS = b"""\
11/14/2023 22:19:20;E;1.s;user=a group=g jobname=j queue=q ctime=1700000000 start=1700000060 exec_host=n1/0-1+n2/0*2 \
Resource_List.nodes=2:ppn=2:gpus=1 Resource_List.walltime=01:00:00 end=1700000360 resources_used.cput=00:10:00 \
resources_used.mem=8000kb
11/14/2023 22:20:00;S;2.s;user=a queue=q ctime=1700000020 start=1700000030
11/14/2023 22:20:00;E;2.s;user=a queue=q ctime=1700000020 start=1700000030 Resource_List.nodes=1:ppn=3 end=1700000090
"""
LSF = b"""\
"JOB_FINISH" "10.1" 1700000360 1 10 33 4 1700000000 0 0 1700000060 "a" "q" "r" "" "" "h" "/w" "" "o" "" "f" 0 2 "n1" \
"n2" 64 12.5 "j ""k"" l" "run" 500.5 99.5 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 "" "p" 0 4 "" "" 0 8000 0
"JOB_FINISH" "9.1" 1700000400 2 10 33 1 1700000010 0 0 1700000070 "a" "q" "r" "" "" "h" "/w" "" "o" "" "f" 1 "n3" 1 \
"n3" 64 12.5 "j" "run"
"""
SGE = b"""\
# Version: 8.1
q:n1:g:a:j:1:sge:0:1700000000:1700000060:1700000360:0:0:300:500.5:99.5:104188:0:0:0:0:28001:0:0:0:24:0:0:0:41:549:NONE:d:\
mpi:4:0:600.0:7.3:0.1:-l h_rt=3600,gpu=1 -pe mpi 4:0.0:NONE:8192000.0:0:0
q:n1:g:a:j:2:sge:0:1700000001500:1700000002000:1700000005000:0:0:3:1:1:104188:0:0:0:0:28001:0:0:0:24:0:0:0:41:549:NONE:d:\
NONE:1:7:2.0:7.3:0.1:NONE:0.0:NONE:8192000.0:0:0:NONE:NONE:4096000:1
"""
CONDOR = b"""\
ClusterId = 7
ProcId = 0
QDate = 1700000000
JobStartDate = 1700000030
RemoteWallClockTime = 100.0
RemoteUserCpu = 150.0
RemoteSysCpu = 10.0
RequestCpus = 2
ResidentSetSize = 2000
BlockReadKbytes = 10
Cmd = "run \\"it\\""
Requirements = (A == 1)

ClusterId = 8
ProcId = 1
QDate = 1700000010
JobStartDate = 1700000030
RemoteWallClockTime = 50
RequestCpus = 1
"""
CONDOR_LINES = b"""\
{"ClusterId": 7, "ProcId": 0, "QDate": 1700000000, "JobStartDate": 1700000030, "RemoteWallClockTime": 9.5, "Owner": "a"}
{"ClusterId": 8, "ProcId": 0, "QDate": 1700000010, "JobStartDate": 1700000040, "RemoteWallClockTime": 5, "Owner": "b"}
"""
CONDOR_JSON = b"[" + CONDOR_LINES.strip().replace(b"}\n{", b"},\n{") + b"]\n"
GWF = b"""\
# GWF
1 1700000000 5 100 4 80 1000 4 600 -1 1 U1 G1 X1 Q1 -1 O1 L1 UNITARY -1 -1 -1 -1 -1 -1 -1 -1 V1 P1
2 1700000010 -1 50 -1 -1 -1 2 -1 -1 1 U1 G1 X1 Q1 -1 O1 L1 UNITARY -1 -1 -1 -1 -1 -1 -1 -1 V1 P1
"""
BATSIM = b"""\
{"nb_res": 4, "jobs": [
 {"id": "1", "subtime": 0, "walltime": 30, "res": 1, "profile": "a"},
 {"id": "2", "subtime": 1.5, "walltime": -1, "res": 4, "profile": "b"},
 {"id": "3", "subtime": 2, "res": 2, "profile": "c"}],
 "profiles": {"a": {"type": "delay", "delay": 20.2}, "b": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0},
  "c": {"type": "parallel", "cpu": [1e9, 0, 5e8], "com": [0, 0, 0]}}}
"""
SUPERCLOUD = b"""\
id_job,id_user,state,timelimit,time_submit,time_start,time_end,tres_alloc,partition
1,31,3,1440,1700000000,1700000040,1700000100,"1=40,2=170000,1002=2",p1
2,31,3,4294967295,1700000000,1700000010,1700000020,"1=2,4=1",p1
"""
LOGS = {
    "pbs": ("20231114", PBS, b" "),
    "lsf": ("lsb.acct", LSF, b" "),
    "sge": ("accounting", SGE, b":"),
    "htcondor": ("history", CONDOR, b" "),
    "htcondor-lines": ("history.jsonl", CONDOR_LINES, b", "),
    "htcondor-json": ("history.json", CONDOR_JSON, b""),
    "gwf": ("jobs.gwf", GWF, b" "),
    "batsim": ("workload.json", BATSIM, b""),
    "supercloud": ("slurm-log.csv", SUPERCLOUD, b","),
}
