"""Random numbers of a test: the seed is printed, and CAIRN_SEED=N repeats a run."""
import os
import random
import time


def source():
    seed = int(os.environ.get("CAIRN_SEED") or time.time_ns() % 2**32)
    print(f"CAIRN_SEED={seed}", flush=True)
    return random.Random(seed)
