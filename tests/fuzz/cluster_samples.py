"""Small tables of clusters that the shipped maps know, to be spoilt: file name, content, what is between cells."""

from __future__ import annotations

import json

HASH = "x/XsOfHO4ocsV99i4NluqKDuxctW2MMVmwqOPAlg4wp8mqbBOe3wxBlQo0+Qx+uf"
GOOGLE_2011 = """\
600000000,,1,0,,0,ann=,2,9,0.03125,0.0625,0.0003,0
610000000,,1,0,5,1,ann=,2,9,0.03125,0.0625,0.0003,0
640000000,,1,0,5,2,ann=,2,9,0.03125,0.0625,0.0003,0
650000000,,1,0,,0,ann=,2,9,,,,
660000000,2,1,0,7,1,ann=,2,9,0.03125,0.0625,0.0003,1
9223372036854775807,,1,0,7,4,ann=,2,9,0.03125,0.0625,0.0003,0
670000000,,1,0,7,4,ann=,2,9,0.03125,0.0625,0.0003,0
"""
GOOGLE_2019 = """\
{"time":"600000000","type":"SUBMIT","collection_id":"7","collection_type":"0","instance_index":"1","resource_request":{"cpus":0.01,"memory":0.02}}
{"time":"601000000","type":3,"collection_id":"7","collection_type":"0","instance_index":"1","resource_request":{"cpus":0.01,"memory":0.02}}
{"time":"609000000","type":"6","collection_id":"7","collection_type":0,"instance_index":1,"resource_request":null}
"""
ALIBABA_2018 = """\
M1,1,j_7,1,Terminated,100,110,100.0,0.5
M2,2,j_7,1,Terminated,100,120,200.0,0.5
R3_1_2,1,j_7,1,Terminated,120,130,50.0,1.0
task_Nzg3ODAwNDgzMTAwNTc2NTQ2Mw==,1,j_8,1,Terminated,161,165,,
M5_3_5_9,1,j_9,1,Terminated,170,180,100.0,0.5
M4,1,j_9,1,Running,170,0,100.0,0.5
"""
PODS = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p-0,2500,3000,1,460,,LS,Running,1000,1100,1040
p-1,8000,16000,8,1000,G2|P100,BE,Succeeded,1030,1050,1030
p-2,1000,1000,0,0,,BE,Failed,1040,1044,1042
p-3,4000,1000,1,1000,,BE,Pending,1050,1060,
"""
VMS = f"""\
{HASH},{HASH},{HASH},0,3000,99.0,10.0,90.0,Delay-insensitive,4,8
{HASH},{HASH},{HASH},600,1600,80,50,70,Unknown,>24,>64
"""
FUNCTIONS = "\n".join(
    [
        ",".join(["HashOwner", "HashApp", "HashFunction", "Trigger", *map(str, range(1, 1441))]),
        ",".join(["o", "a", "f", "http", *["3"] * 5, *["0"] * 1435]),
        ",".join(["o", "a", "g", "timer", *["0"] * 1439, "1"]),
    ]
)
PHILLY = json.dumps(
    [
        {
            "status": "Pass",
            "vc": "v1",
            "jobid": f"application_{number}",
            "attempts": [
                {
                    "start_time": "2017-10-07 01:12:09",
                    "end_time": end,
                    "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu0"]}],
                }
            ],
            "submitted_time": "2017-10-07 01:11:39",
            "user": "u1",
        }
        for number, end in enumerate(("2017-10-07 01:13:23", "None"))
    ],
    indent=1,
)
HELIOS = """\
job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
11,uX,vcA,4,16,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:37,2020-06-09 18:45:36,239,10
12,uY,vcB,0,1,1,COMPLETED,2020-06-09 18:42:27,2020-06-09 18:42:27,2020-06-10 18:42:27,86400,0
"""
CLUSTERS = {
    name: (file, text.encode(), between)
    for name, file, text, between in (
        ("google-2011", "part.csv", GOOGLE_2011, b","),
        ("google-2019", "events.json", GOOGLE_2019, b""),
        ("alibaba-2018", "batch_task.csv", ALIBABA_2018, b","),
        ("alibaba-gpu-2023", "pods.csv", PODS, b","),
        ("azure-vm-2019", "vmtable.csv", VMS, b","),
        ("azure-functions-2019", "functions.csv", FUNCTIONS, b","),
        ("philly", "cluster_job_log", PHILLY, b""),
        ("helios", "cluster_log.csv", HELIOS, b","),
    )
}
