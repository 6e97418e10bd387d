"""Which shipped map knows a file by what it begins with: its own files, and no others that lie beside them."""

from __future__ import annotations

import pytest

from cluster_abm.workload.traces.format import Head
from cluster_abm.workload.traces.mapping.maps import map_known_by, shipped_maps

HASH = "x/XsOfHO4ocsV99i4NluqKDuxctW2MMVmwqOPAlg4wp8mqbBOe3wxBlQo0+Qx+uf"
VM = f"{HASH},{HASH},{HASH},0,2591700,99.369869,3.424094,10.194309,Delay-insensitive"
USER = "70s3v5qRyCO/1PCdI6fVXnrW8FU/w+5CKRSa72xgcIo="
# First lines in the published schemas.
KNOWN = {
    "google-2011": [
        f"0,2,3418309,0,4155527081,0,{USER},3,9,0.125,0.07446,0.0004244,0",
        f"600000000,,3418314,1,,1,{USER},3,9,,,,",
    ],
    "google-2019": [
        "time,type,collection_id,scheduling_class,missing_type,collection_type,priority,alloc_collection_id,"
        "instance_index,machine_id,alloc_instance_index,resource_request.cpus,resource_request.memory",
        '{"time":"0","type":"2","collection_id":"94591244395","collection_type":"0","instance_index":"144",'
        '"resource_request":{"cpus":0.02,"memory":0.01}}',
    ],
    "alibaba-2017": ["6459,6524,3,4,15740,Terminated,50,0.007956928", "6036,6046,4,7,393,Waiting,,"],
    "alibaba-2018": [
        "M1,1,j_1,1,Terminated,298485,298490,100.0,0.3",
        "task_LTg0MTUwNTA5Mjg4MDkwNjIzMA==,10.0,j_10,9,Terminated,114,140,50,0.5",
        "MergeTask,1,j_2,1,Waiting,0,0,,",
    ],
    "alibaba-gpu-2020": [
        "4f057009a5d481acec67b088,tensorflow,1.0,Terminated,1739162.0,1739200.0,600.0,29.296875,50.0,MISC",
        "ae6137fa93d6c7b9a8ed0ae8,PyTorchWorker,,Waiting,,,,,,",
    ],
    "alibaba-gpu-2023": [
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
    ],
    "azure-vm-2017": [f"{VM},1,1.75", f"{VM},16,112"],
    "azure-vm-2019": [f"{VM},4,32", f"{VM},>24,>64"],
    "azure-functions-2019": [",".join(["HashOwner", "HashApp", "HashFunction", "Trigger", *map(str, range(1, 1441))])],
    "philly": [
        '[{"status": "Pass", "vc": "ee9e8c", "jobid": "application_1", "attempts": [], '
        '"submitted_time": "2017-10-07 01:11:39", "user": "ce2f4c"}]'
    ],
    "helios": ["job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue"],
}
# Other tables of the same traces, and tables that no map knows.
UNKNOWN = {
    "Google's job_events": f"600000000,,3418314,0,{USER},0,name,logical",
    "Google's machine_events": "0,5,0,HofLGzk1Or/8Ildj2+Lqv0UGGvY82NLoni8+J/Yy0RU=,0.5,0.2493",
    "Google's task_usage": "600000000,900000000,3418309,0,4155527081,0.001562,0.06787,0.07568,0.001156,0.001503",
    "collection_events": "time,type,collection_id,scheduling_class,missing_type,collection_type,priority,user",
    "instance_usage": '{"start_time":"1","end_time":"2","collection_id":"3","instance_index":"4","machine_id":"5"}',
    "batch_instance of 2017": "6459,6524,3,4,123,Terminated,1,1,0.5,0.4,0.01,0.01",
    "batch_instance of 2018": "ins_1,M1,j_1,1,Terminated,10,20,m_1,1,1,50,60,0.1,0.2",
    "container_meta": "c_1,m_2556,0,app_5052,started,400,400,1.56",
    "pai_job_table": "4b3f04b66a525d2df903eb16,8cb3bec23d14dbde320b6613452e768c,58540f191766,Terminated,45.0,46.0",
    "openb_node_list": "sn,cpu_milli,memory_mib,gpu,model",
    "function_durations": "HashOwner,HashApp,HashFunction,Average,Count,Minimum,Maximum",
    "a table of jobs": "job_id,user,state,submit_time,start_time,end_time",
    "numbers": "1,2,3,4,5,6,7,8",
    "JSON": '[{"status": "ok", "user": "ann"}]',
}  # fmt: skip


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, lines in KNOWN.items() for line in lines])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lines of Unix", "lines of Windows"])
def test_a_map_knows_its_own_files(name, line, end):
    head = Head((line + end + line + end).encode())
    assert map_known_by(head) == name


@pytest.mark.parametrize("what", UNKNOWN)
def test_no_map_knows_another_table(what):
    assert map_known_by(Head((UNKNOWN[what] + "\n").encode())) is None


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, lines in KNOWN.items() for line in lines])
def test_no_second_map_knows_the_same_file(name, line, monkeypatch):
    others = {other: found for other, found in shipped_maps().items() if other != name}
    monkeypatch.setattr("cluster_abm.workload.traces.mapping.maps.shipped_maps", lambda: others)
    assert map_known_by(Head((line + "\n").encode())) is None
