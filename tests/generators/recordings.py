"""Recordings of small programs: one for each kind of record, file and trouble that directories of
uftrace have. Names are those that tests use."""
import struct

from uftrace import (ARGUMENT, AUTO_ARGS, CALL_SITE, CALLSITE, DEBUG_INFO, DIFF_PAGE_FAULT, DIFF_STATM, EVENTS,
                     KERNEL, READ_PAGE_FAULT, READ_STATM, RETVAL, SYM_SIZE, USER_EVENT, USUAL, WATCH_CPU,
                     Module, Recording, stamp, strings)

START = 600 * 10**9  # of the clock, in nanoseconds
BASE, LIBRARY, LATE = 0xaaaac2120000, 0xffffb8840000, 0xffffb5470000

FRAME = [("_start", "T", 0x34), ("call_weak_fn", "t", 0x14)]
SINGLE = [(name, "P", 16) for name in ("__libc_start_main", "__cxa_atexit", "getpid", "usleep", "printf", "__monstartup",
                                       "_mcount")] + FRAME + [
    ("fib", "t", 0x50), ("c", "t", 0x3c), ("b", "t", 0x40), ("a", "t", 0x34), ("main", "T", 0x58), ("atexit", "t", 0x10),
    ("_IO_stdin_used", "D", 4), ("completed.0", "d", 1)]
LINES = {"fib": (6,), "c": (3,), "b": (4,), "a": (5,), "main": (7,)}


def program(name, symbols, **more):
    return Module(f"/srv/demo/{name}", BASE, symbols, **more)


def c_library():
    names = ("abort", "getpid", "usleep", "printf", "write", "fork", "waitpid", "execl", "strchr")
    return Module("/lib/libc.so.6", LIBRARY, [(name, "T", 0x40) for name in names] + [("environ", "D", 8)],
                  first=0x25000, length=0x1a2000)


def start(run, name="single", symbols=SINGLE, pid=2100, comm=True, **more):
    """A process that runs a program; its first task after what runs before main()."""
    session = run.begin(START, pid, [program(name, symbols, **more), c_library()])
    task = run.task(session, pid, START + 60000)
    if comm:
        run.comm(0, task, name, START - 2000000)
        run.perf(0, 14, 0x2000, task, time_ns=START - 1000000)
        run.perf(0, 14, 0, task, time_ns=START - 400000)
    task.pass_time(20000)
    if task.session.modules[0].has("__monstartup"):
        task.call("__monstartup", ns=300)
        task.call("__cxa_atexit", ns=200)
    return task


def fib(n):
    return ("fib", [fib(n - 1), fib(n - 2)] if n > 1 else [])


def single(task, nap=None, around_a=None, levels=99, has_main=True):
    """main() of the program `single`: a() calls b() calls c() twice, fib(5), a nap, printf()."""
    def cut(call, level):
        name, inside = call if isinstance(call, tuple) else (call, [])
        return (name, [cut(each, level + 1) for each in inside] if level < levels else [])

    if has_main:
        task.enter("main")
    a = cut(("a", [("b", [("c", ["getpid"]), ("c", ["getpid"])])]), 2)
    if around_a:
        around_a(a)
    else:
        task.call(*a)
    task.call(*cut(fib(5), 2))
    task.enter("usleep")
    (nap or (lambda t: t.pass_time(1060000)))(task)
    task.leave()
    task.call("printf", ns=9000)
    if has_main:
        task.leave()


def asleep(run, ns=1060000):
    return lambda task: run.sleep(task, ns)


def plain():
    run = Recording("single")
    single(start(run), asleep(run))
    return run


def no_event():
    run = Recording("no-event")
    single(start(run, comm=False))
    return run


def sched_events():
    """Short calls, a long sleep, and a time in which another program ran."""
    run = Recording("sched-events")
    task = start(run, pid=2148)

    def nap(task):
        run.sleep(task, 4590000, cpu=1)
        run.sleep(task, 7000, is_preempted=True)

    single(task, nap)
    return run


def cygprof():
    run = Recording("single-cygprof")
    single(start(run, offset=0), asleep(run))
    return run


def dynamic():
    run = Recording("single-dynamic-nop")
    single(start(run, offset=8), asleep(run))
    return run


def source_lines():
    run = Recording("single-srcline", features=USUAL | DEBUG_INFO)
    run.has_lines = True
    single(start(run, lines=LINES), asleep(run))
    return run


def depth_limit():
    run = Recording("depth-limit")
    single(start(run), asleep(run), levels=3)
    return run


def filtered():
    """Only b() and what it calls; a depth that begins there."""
    run = Recording("filter-F")
    task = start(run)
    task.data.clear()
    task.call("b", [("c", ["getpid"]), ("c", ["getpid"])])
    return run


def time_filter():
    run = Recording("time-filter")
    task = start(run)
    task.data.clear()
    run.extra["default.opts"] = b"-t 500us"
    task.enter("main")
    task.call("usleep", [asleep(run)])
    task.leave()
    return run


def switched_on():
    """Recording begins in a(): main() returns without an entry."""
    run = Recording("trigger-onoff")
    task = start(run)
    task.data.clear()
    single(task, asleep(run), has_main=False)
    task.leave_again("main")
    return run


def counters():
    """Counters that triggers read at the beginning and the end of a()."""
    run = Recording("trigger-read", features=USUAL | EVENTS)
    task = start(run, comm=False)

    def read(a):
        task.enter("a")
        task.event(READ_STATM, task.words("QQQ", 34012, 15816, 11500))
        task.event(READ_PAGE_FAULT, task.words("QQ", 1, 4050))
        task.pass_time(20000)
        task.call(*a[1][0])
        task.pass_time(9000)
        task.event(DIFF_STATM, task.words("qqq", 0, 8, 4))
        task.event(DIFF_PAGE_FAULT, task.words("qq", 0, 42))
        task.leave()

    single(task, around_a=read)
    return run


def call_sites():
    """Where c() was called from."""
    run = Recording("trigger-callsite", features=USUAL | DEBUG_INFO | EVENTS | CALLSITE)
    run.has_lines = True
    task = start(run, lines=LINES)
    site = BASE + task.session.modules[0].by_name["b"][0]

    def with_sites(_):
        task.enter("a")
        task.enter("b")
        for off in (0x1c, 0x28):
            task.event(CALL_SITE, task.words("Q", site + off), time_ns=task.now - 1)
            task.call("c", ["getpid"])
        task.leave()
        task.leave()

    single(task, asleep(run), around_a=with_sites)
    return run


def watched():
    """The processor, and a variable, whenever they change."""
    run = Recording("watch-cpu", features=USUAL | EVENTS)
    task = start(run)
    task.data.clear()
    task.enter("__monstartup")
    task.event(WATCH_CPU, task.words("i", 0))
    task.leave()
    task.enter("main")
    task.call(*fib(2))
    task.event(WATCH_CPU, task.words("i", 1))
    task.call("printf")
    task.leave()
    return run


def threads():
    run = Recording("threads")
    names = [(n, "P", 16) for n in ("__monstartup", "__cxa_atexit", "pthread_create", "pthread_join", "printf")]
    task = start(run, "threads", names + FRAME + [("leaf", "t", 0x2c), ("work", "t", 0x5c), ("thr", "t", 0x30),
                                                  ("main", "T", 0x104)], pid=2153)
    workers = []
    task.enter("main")
    for i in range(4):
        task.enter("pthread_create")
        task.pass_time(15000)
        worker = run.task(task.session, 2155 + i, task.now + 500 * (5 - i))
        run.born(1, worker, task)
        run.comm(1, worker, "threads", worker.now)
        workers.append(worker)
        task.leave()
    for i in (1, 0, 3, 2):
        worker = workers[i]
        worker.now = max(worker.now, task.now) + 30000 + 700 * i
        worker.call("thr", [("work", ["leaf"] * (i + 3))])
        if i in (0, 2):
            run.sleep(worker, 4000, cpu=1, is_preempted=i == 0)
        run.died(1, worker, worker)
    task.enter("pthread_join")
    run.sleep(task, 980000)
    task.leave()
    task.call("pthread_join")
    task.call("pthread_join", [asleep(run, 970000)])
    task.call("pthread_join")
    task.call("printf", ns=12000)
    task.leave()
    return run


FORKER = [(n, "P", 16) for n in ("__monstartup", "__cxa_atexit", "fork", "waitpid", "exit", "execl")] + FRAME + [
    ("child_work", "t", 0x24), ("parent_work", "t", 0x24), ("before_exec", "t", 0x20), ("main", "T", 0x90)]


def fork():
    """The child returns from a call of fork() that its parent made."""
    run = Recording("fork")
    task = start(run, "forker", FORKER, pid=2164)
    task.enter("main")
    task.enter("fork")
    task.pass_time(90000)
    child = run.fork(task, 2166, task.now)
    run.born(0, child, task)
    task.pass_time(40000)
    task.leave()
    task.call("parent_work")
    child.pass_time(60000)
    child.leave()
    child.call("child_work")
    child.enter("exit")
    run.died(1, child, task)
    task.call("waitpid", [asleep(run, 800000)])
    task.leave()
    return run


def execute():
    """A child that becomes another program, with a session of its own."""
    run = Recording("exec")
    task = start(run, "execer", FORKER, pid=2174)
    task.enter("main")
    task.call("before_exec")
    task.enter("fork")
    task.pass_time(80000)
    child = run.fork(task, 2176, task.now)
    run.born(0, child, task)
    run.sleep(task, 5700, is_preempted=True)
    task.leave()
    child.pass_time(150000)
    child.leave()
    child.enter("execl")
    session = run.begin(child.now + 2800000, 2176, [
        Module("/srv/demo/single", BASE + 0x40000000, SINGLE), c_library()])
    child = run.task(session, 2176, child.now + 2900000)
    run.comm(1, child, "single")
    child.pass_time(30000)
    child.call("__monstartup", ns=300)
    single(child, lambda task: run.sleep(task, 1060000, cpu=1))
    task.enter("waitpid")
    run.sleep(task, child.now - task.now + 20000)
    task.leave()
    task.leave()
    return run


def dlopen():
    run = Recording("dlopen")
    task = start(run, "dlopener", [(n, "P", 16) for n in ("__monstartup", "__cxa_atexit", "dlopen", "dlsym", "dlclose")] +
                 FRAME + [("own", "t", 0x20), ("main", "T", 0xa0)], pid=2189)
    task.enter("main")
    task.enter("dlopen")
    task.pass_time(115000)
    library = Module("./libdl_fix.so", LATE, [("inner", "t", 0x24), ("lib_entry", "T", 0x34)])
    run.dlopen(task, library)
    task.leave()
    task.call("dlsym", ns=800)
    task.call("lib_entry", ["inner"])
    task.call("own")
    task.call("dlclose", ns=17000)
    task.leave()
    return run


def longjmp():
    """Calls that are left without returning."""
    run = Recording("longjmp")
    task = start(run, "longjmp", [(n, "P", 16) for n in ("__monstartup", "__cxa_atexit", "_setjmp", "longjmp")] + FRAME +
                 [("after", "t", 0x20), ("deep2", "t", 0x40), ("main", "T", 0x60)], pid=2158)
    task.enter("main")
    task.call("_setjmp", ns=3000)
    for _ in range(4):
        task.enter("deep2")
    task.enter("longjmp")
    task.pass_time(1000)
    del task.open[1:]
    task.open.append(task.address_of("_setjmp"))
    task.leave()
    task.call("after")
    task.leave()
    return run


def crash():
    run = Recording("crash")
    run.facts["exit_status"] = ["11"]
    task = start(run, "crash", [(n, "P", 16) for n in ("__monstartup", "__cxa_atexit")] + FRAME +
                 [("boom", "T", 0x2c), ("lvl2", "T", 0x40), ("lvl1", "T", 0x30), ("main", "T", 0x2c)], pid=1880,
                 comm=False)
    for name in ("main", "lvl1", "lvl2", "boom"):
        task.enter(name)
    return run


def lost():
    """Records that did not fit, in a leaf and between calls of main()."""
    run = Recording("lost")
    task = start(run, "lost", [(n, "P", 16) for n in ("__monstartup", "__cxa_atexit", "open")] + FRAME +
                 [("leaf", "T", 0x24), ("mid", "T", 0x5c), ("eat_fds", "T", 0x40), ("main", "T", 0x6c)], pid=1551,
                 comm=False)
    task.enter("main")
    task.call("mid", ["leaf"] * 5)
    task.enter("eat_fds")
    task.call("open")
    task.call("open")
    task.open.pop()
    task.lost(5516)
    task.pass_time(350000)
    task.call("mid", ["leaf"] * 4)
    task.enter("mid")
    task.call("leaf")
    task.open.pop()
    task.lost(12)
    task.pass_time(9000)
    task.call("mid", ["leaf"] * 3)
    task.leave()
    return run


def deep():
    """As deep as a record can say."""
    run = Recording("maxstack-1024")
    task = start(run, "deep", [(n, "P", 16) for n in ("__monstartup", "__cxa_atexit", "printf")] + FRAME +
                 [("rec", "T", 0x4c), ("main", "T", 0x3c)], pid=2120, comm=False)
    task.enter("main")
    for _ in range(1023):
        task.enter("rec")
    for _ in range(1023):
        task.leave()
    task.call("printf")
    task.leave()
    return run


NAMES = [  # what a compiler makes of names of C++
    "_ZN5outer5inner3BoxIiEC2Ei", "_ZNK5outer5inner3BoxIiEplERKS2_", "_ZNK5outer5inner3BoxIiE3getEv",
    "_ZN5outer5inner3BoxIiED2Ev", "_ZN5outer5inner7DerivedC2Ei", "_ZN5outer5inner7Derived3runEi",
    "_ZZN5outer5inner7Derived3runEiENKUliE_clEi", "_ZN5outerL4anonERKSt6vectorISsSaISsEERSt3mapIiSsSt4lessIiEE",
    "_ZNSt3mapIiSsSt4lessIiESaISt4pairIKiSsEEEixERS3_"]


def cxx():
    run = Recording("cxx")
    libs = [(n, "P", 16) for n in ("_Znwm", "_ZdlPvm", "__cxa_throw", "__cxa_begin_catch", "__cxa_end_catch", "strlen",
                                   "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1ERKS4_")]
    task = start(run, "cxx", libs + FRAME + [(n, "w", 0x40) for n in NAMES] + [("main", "T", 0x200)], pid=2140)
    box, plus, get, gone, derived, at_run, lam, anon, index = NAMES
    task.call("main", [
        box, box, (plus, [box]), get, derived, (at_run, [lam]),
        (anon, [(index, ["_Znwm", libs[6][0], "strlen"])]), ("__cxa_throw", [], 4000), "__cxa_begin_catch",
        "__cxa_end_catch", "_ZdlPvm", gone, gone, gone])
    return run


ARGS = [(n, "P", 16) for n in ("__monstartup", "__cxa_atexit", "strchr")] + FRAME + [
    ("f_int", "T", 0x48), ("f_str", "T", 0x3c), ("f_dbl", "T", 0x3c), ("f_small", "T", 0x40), ("f_big", "T", 0x60),
    ("f_enum", "T", 0x40), ("f_ptr", "T", 0x2c), ("f_many", "T", 0x90), ("f_neg", "T", 0x48), ("main", "T", 0x130)]
LONG = b"a very long string that is longer than ninety-eight characters so that what is behind them is ..."


def arguments_by_hand():
    """As with record -A and -R: the specification of all arguments is in the file info."""
    run = Recording("args-manual", features=USUAL | ARGUMENT | RETVAL | DEBUG_INFO)
    run.has_lines = True
    run.arguments = ["argspec:f_int@arg1,arg2/x,arg3/u8;f_str@arg1/s,arg2/c;f_dbl@fparg1,fparg2/32",
                     "retspec:f_int@retval;f_str@retval/s;f_dbl@retval/f64"]
    lines = {name: (7 + i,) for i, (name, _, _) in enumerate(ARGS[5:-1])}
    task = start(run, "args", ARGS, pid=2434, comm=False, lines=lines)
    task.enter("main")
    task.call("f_int", payload=task.words("qqBxxx", -1, 2, 3), result=task.words("q", 6))
    for text, char, found in ((b"hello world", b"w", b"world"), (b"", b"x", b"NULL"), (LONG, b"z", b"NULL"),
                              (b"a \"quoted\"\n\tline\\", b"\0", b"")):
        task.call("f_str", ["strchr"], payload=strings("<", text) + char + bytes(3), result=strings("<", found))
    task.call("f_dbl", payload=task.words("df", 1.5, 2.25), result=task.words("d", 3.375))
    for name in ("f_small", "f_big", "f_enum", "f_ptr", "f_ptr", "f_many", "f_neg"):
        task.call(name)
    task.leave()
    return run


def arguments_of_all():
    """As with record -a: the arguments of our functions are in files of debug information, those of libraries in
    tables of the file info."""
    run = Recording("args-auto", features=USUAL | ARGUMENT | RETVAL | AUTO_ARGS | DEBUG_INFO)
    run.has_lines = True
    run.arguments = ["argauto:strchr@arg1/s,arg2/c;strlen@arg1/s;open@arg1/s,arg2/e:uft_open_flag",
                     "retauto:strchr@retval/s;strlen@retval;open@retval/d32",
                     "enumauto:enum uft_open_flag { O_RDONLY, O_WRONLY, O_RDWR, };", "auto-args:1"]
    spec = {"f_int": ("arg1,arg2,arg3", "retval"), "f_str": ("arg1/s,arg2/c", "retval/s"),
            "f_dbl": ("fparg1/64,fparg2/32", "retval/f64"), "f_small": ("arg1/t8:small%X0,arg2%X1", "retval/t8:small"),
            "f_big": ("arg1/t32:big%X0", "retval/t32:big"), "f_enum": ("arg1/e:color", "retval/e:color"),
            "f_ptr": ("arg1/p", "retval/p"),
            "f_many": (",".join(f"arg{i}" for i in range(1, 9)) + ",arg9%stack+1,arg10%stack+2", "retval"),
            "f_neg": ("arg1/d8,arg2/d16,arg3/d64", "retval/d64"), "main": (None, "retval")}
    lines = {name: (7 + i, *spec[name]) for i, (name, _, _) in enumerate(ARGS[5:])}
    task = start(run, "args", ARGS, pid=2431, lines=lines)
    task.session.modules[0].enums.append(("color", "RED,GREEN=5,BLUE"))
    words = task.words
    task.enter("main")
    task.call("f_int", payload=words("qqq", 1, 2, 3), result=words("q", 6))
    for text, char, found in ((b"hello world", b"w", b"world"), (b"", b"x", b"NULL"), (LONG, b"z", b"NULL")):
        both = strings("<", text) + char + bytes(3)
        task.enter("f_str", both)
        task.call("strchr", payload=both, result=strings("<", found))
        task.leave(strings("<", found))
    task.call("f_dbl", payload=words("df", 1.5, 2.25), result=words("d", 3.375))
    task.call("f_small", payload=words("iiq", 1, 2, 7), result=words("ii", 8, 2))
    task.call("f_big", payload=words("4q", 1, 2, 3, 4), result=words("4q", 2, 2, 3, 4))
    task.call("f_enum", payload=words("q", 0), result=words("q", 5))
    task.call("f_enum", payload=words("q", 6), result=words("q", 77))
    task.call("f_ptr", payload=words("Q", 0), result=words("Q", 0))
    task.call("f_ptr", payload=words("Q", task.address_of("main") - 0x18), result=words("Q", 0xfffffaf0aa88))
    task.call("f_many", payload=words("10q", *range(1, 11)), result=words("q", 55))
    task.call("f_neg", payload=words("bxxxhxxq", -1, -2, -3), result=words("q", -6))
    task.leave(words("q", 0))
    return run


def events_of_the_program():
    """Events that a program defines."""
    run = Recording("user-events", features=USUAL | EVENTS)
    task = start(run, comm=False)
    run.extra["events.txt"] = b"EVENT: 1000000 shop:order\nEVENT: 1000001 shop:paid\n"

    def with_events(a):
        task.event(USER_EVENT)
        task.call(*a)
        task.event(USER_EVENT + 1)

    single(task, around_a=with_events)
    return run


def from_elsewhere():
    """Texts with times that the user added."""
    run = Recording("external-data")
    run.extra["extern.dat"] = f"# from elsewhere\n{stamp(START + 500000)} the lights went on\n".encode()
    run.extra["note.txt"] = b"an ordinary day\n"
    single(start(run, comm=False))
    return run


def big_endian():
    run = Recording("big-endian", order=">")
    run.facts["cpuinfo"] = ["lines=2", "nr_cpus=2 / 4 (online/possible)", "desc=POWER9"]
    single(start(run), asleep(run))
    return run


def old():
    """Files of symbols without sizes, as they were before 0.14."""
    run = Recording("old-symbols", features=USUAL & ~SYM_SIZE)
    single(start(run, comm=False))
    return run


COMMON = ("format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
          "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
          "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
          "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n")
GRAPH = ("\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
         "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n")
TIMES = ("\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
         "\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n")
PAGE = 4096


class KernelPage:
    """One page of the kernel's ring buffer: a time, how much is used, then events with the time since the last."""

    def __init__(self, time_ns):
        self.time_ns = self.last_ns = time_ns
        self.data = b""

    def add(self, time_ns, body):
        body += bytes(-len(body) % 4)
        delta = time_ns - self.last_ns
        if delta >= 1 << 27:  # an event that only extends the time
            self.data += struct.pack("<II", 30 | (delta & (1 << 27) - 1) << 5, delta >> 27)
            delta = 0
        self.data += struct.pack("<I", len(body) // 4 | delta << 5) + body
        self.last_ns = time_ns

    def bytes(self):
        return (struct.pack("<QQ", self.time_ns, len(self.data)) + self.data).ljust(PAGE, b"\0")


def kernel():
    """Functions of the kernel below a call of the program."""
    run = Recording("kernel", features=USUAL | KERNEL)
    task = start(run, comm=False)
    where = {"ksys_write": 0xffff800080310000, "vfs_write": 0xffff800080311000, "schedule": 0xffff800080f20000}
    run.extra["kallsyms"] = "".join(f"{at:016x} T {name}\n" for name, at in where.items()).encode()
    header = f"PAGE_SIZE: {PAGE}\nLONG_SIZE: 8\nENDIAN: LE\n"
    parts = [("events/header_page", "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
              "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
              f"\tfield: char data;\toffset:16;\tsize:{PAGE - 16};\tsigned:1;\n"),
             ("events/header_event", "# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
              "\tarray       :   32 bits\n")]
    for name, number, fields in (("funcgraph_entry", 11, GRAPH), ("funcgraph_exit", 10, GRAPH + TIMES)):
        parts.append((f"events/ftrace/{name}/format",
                      f"name: {name}\nID: {number}\n{COMMON}{fields}\nprint fmt: \"%d\", REC->depth\n"))
    run.extra["kernel_header"] = (header + "".join(f"TRACEFS: {name}: {len(text)}\n{text}"
                                                   for name, text in parts)).encode()
    page = KernelPage(START + 70000)

    def graph(number, name, depth, times=b""):
        at = where[name]
        body = struct.pack("<HBBiQi", number, 0, 0, task.tid, at, depth) + (b"\0\0\0\0" + times if times else b"")
        page.add(task.now, body)

    def inside(task):
        begun = task.now
        graph(11, "ksys_write", 0)
        task.pass_time(700)
        graph(11, "vfs_write", 1)
        middle = task.now
        task.pass_time(1400)
        graph(10, "vfs_write", 1, struct.pack("<QQ", middle, task.now))
        task.pass_time(300)
        graph(10, "ksys_write", 0, struct.pack("<QQ", begun, task.now))
        task.pass_time()

    task.enter("main")
    task.call("printf", [inside])
    task.call("usleep", [lambda t: t.pass_time(200000000)])
    task.call("printf", [inside])
    task.leave()
    run.extra["kernel-cpu0.dat"] = page.bytes()
    return run


ALL = [plain, no_event, sched_events, cygprof, dynamic, source_lines, depth_limit, filtered, time_filter, switched_on,
       counters, call_sites, watched, threads, fork, execute, dlopen, longjmp, crash, lost, deep, cxx, arguments_by_hand,
       arguments_of_all, events_of_the_program, from_elsewhere, big_endian, old, kernel]


def write(folder):
    for make in ALL:
        run = make()
        run.write(folder / run.name)
