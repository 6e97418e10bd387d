"""Small tables in the schemas of published cluster traces, as shipped maps read them: file, bytes, between cells."""

from __future__ import annotations

GOOGLE_2011 = b"""\
600000000,,1,0,,0,ann=,2,9,0.03125,0.0625,0.0003,0
610000000,,1,0,,1,ann=,2,9,0.03125,0.0625,0.0003,0
640000000,,1,0,,2,ann=,2,9,0.03125,0.0625,0.0003,0
640000000,,1,0,,0,ann=,2,9,0.03125,0.0625,0.0003,0
700000000,,1,0,,1,ann=,2,9,0.03125,0.0625,0.0003,0
790000000,,1,0,,4,ann=,2,9,0.03125,0.0625,0.0003,0
601000000,,1,1,,0,bob=,2,9,0.0625,0.0625,0.0003,0
602000000,,1,1,,1,bob=,2,9,0.0625,0.0625,0.0003,0
607000000,,1,1,,5,bob=,2,9,0.0625,0.0625,0.0003,0
9223372036854775807,,1,2,,6,bob=,2,9,0.0625,0.0625,0.0003,0
"""
GOOGLE_2019 = b"""\
time,type,collection_id,scheduling_class,collection_type,priority,instance_index,resource_request.cpus,\
resource_request.memory
600000000,0,77,2,0,103,4,0.03125,0.015625
603000000,3,77,2,0,103,4,0.03125,0.015625
613000000,4,77,2,0,103,4,0.03125,0.015625
620000000,SCHEDULE,77,2,0,103,4,0.03125,0.015625
625000000,KILL,77,2,0,103,4,0.03125,0.015625
601000000,3,78,2,1,103,0,0.5,0.5
"""
GOOGLE_2019_LINES = b"""\
{"time": "600000000", "type": "SUBMIT", "collection_id": "77", "collection_type": "JOB", "instance_index": 4, \
"resource_request": {"cpus": 0.0078, "memory": 0.001}}
{"time": "603000000", "type": "SCHEDULE", "collection_id": "77", "collection_type": "JOB", "instance_index": 4, \
"resource_request": {"cpus": 0.0078, "memory": 0.001}}
{"time": "613000000", "type": "FINISH", "collection_id": "77", "collection_type": "JOB", "instance_index": 4, \
"resource_request": {"cpus": 0.0078, "memory": 0.001}}
"""
ALIBABA_2017 = b"""\
1000,1060,3,4,5,Terminated,50,0.01
1030,1070,3,5,1,Terminated,300,0.05
1040,1050,4,7,393,Waiting,,
1050,1050,4,8,1,Terminated,100,0.01
"""
ALIBABA_2018 = b"""\
M1,1,j_7,1,Terminated,100,110,100.0,0.5
M2,2,j_7,1,Terminated,100,120,200.0,0.5
R3_1_2,1,j_7,1,Terminated,120,130,50.0,1.0
task_Nzg3==,1,j_8,1,Terminated,161,165,100.0,0.5
M4,1,j_9,1,Running,170,0,100.0,0.5
"""
ALIBABA_2020 = b"""\
4f057009a5d481acec67b088,tensorflow,1.0,Terminated,1739162.0,1739200.0,600.0,29.296875,50.0,MISC
4f057009a5d481acec67b088,ps,2.0,Failed,1739170.0,1739180.0,100.0,10.0,0.0,MISC
bbbb7009a5d481acec67b088,worker,1.0,Waiting,,,600.0,29.296875,50.0,
"""
ALIBABA_2023 = b"""\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p-0,12000,16384,1,1000,,LS,Running,0,12537496,0
p-1,6000,12288,1,460,V100M16|V100M32,BE,Succeeded,427061,12902960,427061
p-2,6000,12288,1,460,,LS,Pending,427061,,
"""
AZURE_VM_2017 = b"""\
x/XsOfHO4ocsV99i4NluqKDuxctW2MMVmwqOPAlg4wp8mqbBOe3w,VDU4C8cqdr+ORcqquwMRcsBA2l0SC6lCPys0wdgh,\
Pc2VLB8aDxK2DCC96itq4vW/zVDp4wioAUiB3HoGSFYQ0o6/,0,2591700,99.36,3.42,10.19,Delay-insensitive,1,1.75
H5CxmMoVcZSpjgGbohnVA3R+7uCTe/hM2ht2uIYi3t7KwXB1,BSXOcywx8pUU0DueDo6UMol1YzR6tn47KLEKaoXp0a1b,\
3J17LcV4gXjFat62qhVFRfoiWArHnY763HVqqI6orJCfV8NZ,600,1200,2.1,1.5,2.0,Unknown,2,3.5
"""
AZURE_VM_2019 = b"""\
x/XsOfHO4ocsV99i4NluqKDuxctW2MMVmwqOPAlg4wp8mqbBOe3w,VDU4C8cqdr+ORcqquwMRcsBA2l0SC6lCPys0wdgh,\
Pc2VLB8aDxK2DCC96itq4vW/zVDp4wioAUiB3HoGSFYQ0o6/,0,2591700,99.36,3.42,10.19,Delay-insensitive,2,4
H5CxmMoVcZSpjgGbohnVA3R+7uCTe/hM2ht2uIYi3t7KwXB1,BSXOcywx8pUU0DueDo6UMol1YzR6tn47KLEKaoXp0a1b,\
3J17LcV4gXjFat62qhVFRfoiWArHnY763HVqqI6orJCfV8NZ,600,1200,2.1,1.5,2.0,Unknown,>24,>64
"""
_MINUTES = b",".join(b"%d" % minute for minute in range(1, 1441))
AZURE_FUNCTIONS = (
    b"HashOwner,HashApp,HashFunction,Trigger," + _MINUTES + b"\n"
    b"a,b,c,http," + b",".join([b"0"] * 700 + [b"3"] + [b"0"] * 739) + b"\n"
    b"a,b,d,timer," + b",".join([b"1"] * 5 + [b"0"] * 1435) + b"\n"
)
PHILLY = b"""\
[{"status": "Pass", "vc": "11cb48", "jobid": "application_1_1", "user": "ce2f51", "attempts": [
  {"start_time": "2017-10-07 03:10:23", "end_time": "2017-10-07 05:45:50", "detail": [
   {"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu0"]}]},
  {"start_time": "2017-10-07 06:10:23", "end_time": "2017-10-07 07:45:50", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}],
  "submitted_time": "2017-10-07 03:07:20"},
 {"status": "Killed", "vc": "11cb48", "jobid": "application_1_2", "user": "ce2f51", "attempts": [
  {"start_time": "2017-11-05 01:10:23", "end_time": "None", "detail": []}], "submitted_time": "2017-11-05 01:07:20"},
 {"status": "Killed", "vc": "x", "jobid": "application_1_3", "user": "u", "attempts": [],
  "submitted_time": "2017-11-05 01:07:20"}]
"""
HELIOS = b"""\
job_id,user,vc,jobname,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
1,u1,vcA,j,8,32,1,COMPLETED,2020-04-01 00:00:40,2020-04-01 00:01:00,2020-04-01 01:00:00,3540,20
2,u2,vcA,j,0,1,1,FAILED,2020-04-01 00:00:41,2020-04-01 00:00:42,2020-04-01 00:00:52,10,1
3,u2,vcB,j,0,1,1,CANCELLED,2020-04-01 00:00:41,None,2020-04-01 00:00:52,0,11
"""
ANL = b"""\
JOB_NAME,COBALT_JOBID,MACHINE_NAME,QUEUED_TIMESTAMP,START_TIMESTAMP,END_TIMESTAMP,USERNAME_GENID,PROJECT_NAME_GENID,QUEUE_GENID,\
WALLTIME_SECONDS,RUNTIME_SECONDS,NODES_USED,NODES_REQUESTED,CORES_USED,CORES_REQUESTED,EXIT_STATUS
1.1,1,theta,2019-01-01 10:00:00,2019-01-01 10:10:00,2019-01-01 10:20:00,3,5,4,3600,600,8,8,512,512,0
2.1,2,theta,2019-01-01 10:00:10,2019-01-01 10:00:20,2019-01-01 10:00:30,3,5,4,60.0,10.0,1.0,1.0,64.0,64.0,0
"""
CLUSTERS = {
    "google-2011": ("task_events.csv", GOOGLE_2011, b","),
    "google-2019": ("instance_events.csv", GOOGLE_2019, b","),
    "google-2019-lines": ("instance_events.json", GOOGLE_2019_LINES, b", "),
    "alibaba-2017": ("batch_task.csv", ALIBABA_2017, b","),
    "alibaba-2018": ("batch_task.csv", ALIBABA_2018, b","),
    "alibaba-gpu-2020": ("pai_task_table.csv", ALIBABA_2020, b","),
    "alibaba-gpu-2023": ("pods.csv", ALIBABA_2023, b","),
    "azure-vm-2017": ("vmtable.csv", AZURE_VM_2017, b","),
    "azure-vm-2019": ("vmtable.csv", AZURE_VM_2019, b","),
    "azure-functions-2019": ("invocations.csv", AZURE_FUNCTIONS, b","),
    "philly": ("cluster_job_log", PHILLY, b""),
    "helios": ("cluster_log.csv", HELIOS, b","),
    "anl": ("ANL.csv", ANL, b","),
}
