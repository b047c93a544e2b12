"""Writes databases as Nsight Systems and rocprofv3 export them, of a program that launches kernels and copies from two
threads, and the same trace as torch.profiler writes it."""

import json
import sqlite3
import sys

PID, MAIN, HELPER = 4711, 4711, 4712
# Calls of threads: thread, begin, end, name, correlation id.
CALLS = [
    (MAIN, 1_000, 1_400, "cudaMemcpyAsync", 1),
    (MAIN, 1_500, 1_900, "cudaLaunchKernel", 2),
    (HELPER, 1_600, 1_800, "cudaLaunchKernel", 3),
    (MAIN, 2_000, 9_000, "cudaStreamSynchronize", 4),
    (MAIN, 9_200, 9_300, "cudaMemsetAsync", 5),
]
# Kernels: begin, end, stream, correlation id, name; copies and memsets have bytes.
KERNELS = [(3_000, 7_000, 7, 2, "void scale<float>(float*, int)"), (4_000, 5_000, 8, 3, "add(int*)")]
COPIES = [(2_000, 2_900, 7, 1, 1, 4096)]
SETS = [(9_500, 9_600, 7, 5, 2, 64)]
SYNCS = [(2_100, 8_900, 7, 4, 3)]
RANGES = [(MAIN, 900, 9_400, "step 1")]


def global_id(tid):
    return 1 << 48 | PID << 24 | tid


def nsight(path, chains=True):
    db = sqlite3.connect(path)
    db.executescript("""
        PRAGMA page_size = 1024;
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
        CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, maxWarpsPerSm INTEGER, threadsPerWarp INTEGER,
            maxBlocksPerSm INTEGER, maxRegistersPerSm INTEGER, maxShmemPerSm INTEGER);
        CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);
        CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
        CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
            correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER,
            gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
            staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryTotal INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, bytes INTEGER, memKind INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
            streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER);
        CREATE TABLE CUDA_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER, stackDepth INTEGER);
    """)
    strings = {}

    def text(value):
        if value not in strings:
            strings[value] = len(strings) + 1
            db.execute("INSERT INTO StringIds VALUES (?, ?)", (strings[value], value))
        return strings[value]

    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1794873600000000000, '', '')")
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (3, 'H200', 132, 64, 32, 32, 65536, 233472)")
    db.execute("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, ?)", (PID,))
    db.execute("INSERT INTO PROCESSES VALUES (?, ?, 'train')", (global_id(0), PID))
    db.execute("INSERT INTO ThreadNames VALUES (?, 1, ?)", (text("loader"), global_id(HELPER)))
    for tid, begin, end, name in RANGES:
        db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, ?, ?)", (begin, end, global_id(tid), text(name)))
    for tid, begin, end, name, correlation in CALLS:
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0, ?)",
                   (begin, end, global_id(tid), correlation, text(name + "_v7000"), 1 if chains and tid == MAIN else 0))
    for begin, end, stream, correlation, name in KERNELS:
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, ?, ?, ?, ?, ?, 40, 8, 1, 1, 256, 1, 1, 0, 1024, 0)",
                   (begin, end, stream, correlation, global_id(0), text(name), text(name.split("(")[0])))
    for begin, end, stream, correlation, kind, size in COPIES:
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 0, 1, ?, ?, ?, ?, ?)",
                   (begin, end, stream, correlation, global_id(0), size, kind))
    for begin, end, stream, correlation, kind, size in SETS:
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (?, ?, 0, 1, ?, ?, ?, ?, ?)",
                   (begin, end, stream, correlation, global_id(0), size, kind))
    for begin, end, stream, correlation, kind in SYNCS:
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (?, ?, 0, 1, ?, ?, ?, ?)",
                   (begin, end, stream, correlation, global_id(0), kind))
    if chains:
        for depth, name in enumerate(["forward", "main"]):
            db.execute("INSERT INTO CUDA_CALLCHAINS VALUES (1, ?, ?, ?)", (text(name), text("train"), depth))
    db.commit()
    return db


def rocpd(path):
    """The tables have the id of the run in their names; the views that rocprofv3 adds are what is read."""
    db = sqlite3.connect(path)
    run = "_00006c2d_f2fd_7aeb_a1ea_c8bd4b6a81a5"
    db.executescript(f"""
        CREATE TABLE rocpd_string{run} (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
        CREATE TABLE rocpd_info_process{run} (id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, command TEXT);
        CREATE TABLE rocpd_info_thread{run} (id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, tid INTEGER, name TEXT);
        CREATE TABLE rocpd_info_agent{run} (id INTEGER PRIMARY KEY, guid TEXT, type TEXT, type_index INTEGER, name TEXT,
            product_name TEXT);
        CREATE TABLE rocpd_event{run} (id INTEGER PRIMARY KEY, guid TEXT, stack_id INTEGER);
        CREATE TABLE rocpd_info_kernel_symbol{run} (id INTEGER PRIMARY KEY, guid TEXT, display_name TEXT,
            arch_vgpr_count INTEGER);
        CREATE TABLE rocpd_region{run} (id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER,
            name_id INTEGER, event_id INTEGER);
        CREATE TABLE rocpd_kernel_dispatch{run} (id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, tid INTEGER, agent_id INTEGER,
            kernel_id INTEGER, stream_id INTEGER, start INTEGER, end INTEGER, group_segment_size INTEGER,
            workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER,
            grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER);
        CREATE TABLE rocpd_memory_copy{run} (id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, tid INTEGER, start INTEGER,
            end INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, stream_id INTEGER, name_id INTEGER,
            event_id INTEGER);
    """)
    for table in ("string", "info_process", "info_thread", "info_agent", "event", "info_kernel_symbol", "region",
                  "kernel_dispatch", "memory_copy"):
        db.execute(f"CREATE VIEW rocpd_{table} AS SELECT * FROM rocpd_{table}{run}")
    db.executescript("""
        CREATE VIEW processes AS SELECT P.guid, P.pid, P.command FROM rocpd_info_process P;
        CREATE VIEW threads AS SELECT P.pid, T.tid, T.name FROM rocpd_info_thread T JOIN rocpd_info_process P ON P.id = T.pid;
        CREATE VIEW regions AS SELECT R.id, S.string AS name, P.pid, T.tid, R.start, R.end, E.stack_id FROM rocpd_region R
            JOIN rocpd_event E ON E.id = R.event_id JOIN rocpd_string S ON S.id = R.name_id
            JOIN rocpd_info_process P ON P.id = R.pid JOIN rocpd_info_thread T ON T.id = R.tid;
        CREATE VIEW kernels AS SELECT K.id, T.tid, S.display_name AS name, P.pid, A.type_index AS agent_type_index, K.stream_id,
            K.start, K.end, K.grid_size_x AS grid_x, K.grid_size_y AS grid_y, K.grid_size_z AS grid_z,
            K.workgroup_size_x AS workgroup_x, K.workgroup_size_y AS workgroup_y, K.workgroup_size_z AS workgroup_z,
            K.group_segment_size AS lds_size, S.arch_vgpr_count, E.stack_id FROM rocpd_kernel_dispatch K
            JOIN rocpd_info_agent A ON A.id = K.agent_id JOIN rocpd_event E ON E.id = K.event_id
            JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id JOIN rocpd_info_process P ON P.id = K.pid
            JOIN rocpd_info_thread T ON T.id = K.tid;
        CREATE VIEW memory_copies AS SELECT M.id, P.pid, T.tid, M.start, M.end, S.string AS name, M.stream_id, M.size,
            D.type_index AS dst_agent_type_index, D.type AS dst_agent_type, F.type_index AS src_agent_type_index,
            F.type AS src_agent_type, E.stack_id FROM rocpd_memory_copy M JOIN rocpd_string S ON S.id = M.name_id
            JOIN rocpd_info_agent D ON D.id = M.dst_agent_id JOIN rocpd_info_agent F ON F.id = M.src_agent_id
            JOIN rocpd_event E ON E.id = M.event_id JOIN rocpd_info_process P ON P.id = M.pid
            JOIN rocpd_info_thread T ON T.id = M.tid;
    """)

    def add(table, *values):
        marks = ", ".join("?" * len(values))
        return db.execute(f"INSERT INTO rocpd_{table}{run} VALUES (NULL, 'g', {marks})", values).lastrowid

    process = add("info_process", PID, "train")
    threads = {MAIN: add("info_thread", process, MAIN, "main"), HELPER: add("info_thread", process, HELPER, "loader")}
    cpu, gpu = add("info_agent", "CPU", 0, "cpu", "EPYC"), add("info_agent", "GPU", 0, "gfx942", "MI300A")
    launcher = {correlation: threads[tid] for tid, _, _, _, correlation in CALLS}
    for tid, begin, end, name in RANGES:
        add("region", process, threads[tid], begin, end, add("string", name), add("event", 0))
    for tid, begin, end, name, correlation in CALLS:
        add("region", process, threads[tid], begin, end, add("string", name.replace("cuda", "hip")), add("event", correlation))
    for begin, end, stream, correlation, name in KERNELS:
        add("kernel_dispatch", process, launcher[correlation], gpu, add("info_kernel_symbol", name, 40), stream, begin, end,
            1024, 256, 1, 1, 2048, 1, 1, add("event", correlation))
    for begin, end, stream, correlation, _, size in COPIES:
        add("memory_copy", process, launcher[correlation], begin, end, gpu, cpu, size, stream,
            add("string", "MEMORY_COPY_HOST_TO_DEVICE"), add("event", correlation))
    db.commit()
    return db


def kineto(path):
    def event(category, name, pid, tid, begin, end, **args):
        return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": begin / 1000,
                "dur": (end - begin) / 1000, "args": args}

    events = [event("user_annotation", name, PID, tid, begin, end) for tid, begin, end, name in RANGES]
    events += [event("cuda_runtime", name, PID, tid, begin, end, correlation=correlation)
               for tid, begin, end, name, correlation in CALLS]
    events += [event("kernel", name, 0, stream, begin, end, device=0, context=1, stream=stream, correlation=correlation,
                     grid=[8, 1, 1], block=[256, 1, 1], **{"registers per thread": 40, "shared memory": 1024})
               for begin, end, stream, correlation, name in KERNELS]
    events += [event("gpu_memcpy", "Memcpy HtoD", 0, stream, begin, end, device=0, context=1, stream=stream,
                     correlation=correlation, bytes=size) for begin, end, stream, correlation, _, size in COPIES]
    events += [event("gpu_memset", "Memset (Device)", 0, stream, begin, end, device=0, context=1, stream=stream,
                     correlation=correlation, bytes=size) for begin, end, stream, correlation, _, size in SETS]
    events += [event("cuda_sync", "Stream Sync", 0, stream, begin, end, device=0, context=1, stream=stream,
                     correlation=correlation) for begin, end, stream, correlation, _ in SYNCS]
    device = {"id": 0, "name": "H200", "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536, "warpSize": 32,
              "sharedMemPerMultiprocessor": 233472, "numSms": 132}
    with open(path, "w") as file:
        json.dump({"deviceProperties": [device], "baseTimeNanoseconds": 1794873600000000000, "traceEvents": events}, file)


if __name__ == "__main__":
    nsight(sys.argv[1] + "/report.sqlite").close()
    nsight(sys.argv[1] + "/plain.sqlite", chains=False).close()
    rocpd(sys.argv[1] + "/rocpd.db").close()
    kineto(sys.argv[1] + "/trace.json")
