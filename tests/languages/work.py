"""python3 work.py ROUNDS [FILE]: runs five parts in turn, and prints which share of its thread's processor time each has taken. FILE
gets the stacks as the interpreter sees them (sys._current_frames), about every 2 ms."""
import json
import re
import sys
import threading
import time


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def mix(a, b):
    return (a * 31 + (b ^ (a >> 7))) & 0xFFFFFFFF


def hashes(n):
    h = 1
    for i in range(n):
        h = mix(h, i)
    return h


def count(n):
    words = {}
    for i in range(n):
        word = "w" + str(i * 7919 % 10007)
        words[word] = words.get(word, 0) + 1
    return len(words)


def key(row):
    return row["a"] * 7919 % 10007


def rows(n):
    parsed = json.loads(json.dumps([{"a": i, "b": "row " + str(i)} for i in range(n)]))
    return sorted(parsed, key=key)[0]["a"]


def letters(n):
    return sum(len(re.sub("[0-9]+", "", "word " + str(i))) for i in range(n))


PARTS = {fib: 16, hashes: 12000, count: 8000, rows: 1500, letters: 1500}


def work(rounds):
    times = dict.fromkeys(PARTS, 0)
    now = time.thread_time()
    for _ in range(rounds):
        for part, size in PARTS.items():
            part(size)
            then, now = now, time.thread_time()
            times[part] += now - then
    return times


def watch(thread, over, stacks):
    while not over.wait(0.002):
        frame, stack = sys._current_frames()[thread], []
        while frame:
            stack.append(frame.f_code.co_name)
            frame = frame.f_back
        stacks.append(";".join(reversed(stack)))


def main():
    over, stacks = threading.Event(), []
    watcher = threading.Thread(target=watch, args=(threading.get_ident(), over, stacks))
    if len(sys.argv) > 2:
        sys.setswitchinterval(0.0001)
        watcher.start()
    times = work(int(sys.argv[1]))
    over.set()
    if len(sys.argv) > 2:
        watcher.join()
        with open(sys.argv[2], "w") as file:
            file.write("".join(f"{stack} 1\n" for stack in stacks))
    for part, seconds in times.items():
        print(part.__name__, f"{100 * seconds / sum(times.values()):.2f}")


main()
