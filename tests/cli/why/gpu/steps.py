"""Writes a trace as torch.profiler does: every tenth step copies for 3 ms, and its kernel waits for that."""
import json


def event(category, name, thread, begin, duration, **arguments):
    return {"ph": "X", "cat": category, "name": name, "pid": 0 if thread == 7 else 1, "tid": thread, "ts": begin, "dur": duration,
            "args": arguments}


def main():
    events, correlation, now = [], 0, 1000
    stream = {"device": 0, "context": 1, "stream": 7}
    for step in range(60):
        copy = 3000 if step % 10 == 9 else 40 + step % 3
        correlation += 3
        events += [
            event("user_annotation", "step", 1, now, copy + 50),
            event("cuda_runtime", "cudaMemcpyAsync", 1, now + 5, 4, correlation=correlation),
            event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 7, now + 15, copy, correlation=correlation, bytes=copy * 1000, **stream),
            event("cuda_runtime", "cudaLaunchKernel", 1, now + 12, 4, correlation=correlation + 1),
            event("kernel", "scale(float*, int)", 7, now + 16 + copy, 20, correlation=correlation + 1, grid=[8, 1, 1], block=[128, 1, 1],
                  **stream),
            event("cuda_runtime", "cudaStreamSynchronize", 1, now + 20, copy + 20, correlation=correlation + 2)]
        now += copy + 60
    print(json.dumps({"traceEvents": events}))


main()
