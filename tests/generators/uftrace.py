"""Data directories of uftrace, written byte by byte.

Nothing here comes from the sources of cairn. A Recording has sessions (programs with their
modules), tasks with records, and events of the kernel; write() makes the directory of it.
"""
import hashlib
import pathlib
import struct

ENTRY, EXIT, LOST, EVENT = range(4)
MAGIC = 5

# Bits of feat_mask.
PLTHOOK, TASK_SESSION, KERNEL, ARGUMENT, RETVAL, SYM_REL_ADDR, MAX_STACK, EVENTS, PERF_EVENT, AUTO_ARGS, \
    DEBUG_INFO, ESTIMATE_RETURN, SYM_SIZE, CALLSITE = (1 << bit for bit in range(14))
USUAL = PLTHOOK | TASK_SESSION | SYM_REL_ADDR | MAX_STACK | SYM_SIZE

# Ids of events.
READ_STATM, READ_PAGE_FAULT, DIFF_STATM, DIFF_PAGE_FAULT = range(100001, 100005)
WATCH_CPU, WATCH_VARIABLE, CALL_SITE = range(100011, 100014)
USER_EVENT = 1000000

# Records of the kernel's perf events.
PERF_COMM, PERF_EXIT, PERF_FORK, PERF_SWITCH = 3, 4, 7, 14
PERF_OUT, PERF_PREEMPTED, PERF_COMM_EXEC = 0x2000, 0x4000, 0x2000


def stamp(time_ns):
    return f"{time_ns // 10**9}.{time_ns % 10**9:09}"


def hash_of(text, digits):
    """A build id or session id that depends on nothing but the text."""
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


class Module:
    """A file that is mapped: symbols are (name, type, size) in order of their addresses."""

    def __init__(self, path, base, symbols, first=0x600, length=0x21000, lines=(), offset=0x18):
        self.path, self.base, self.length, self.offset = path, base, length, offset
        self.name = path.rsplit("/", 1)[-1]
        self.build_id = hash_of(path, 40)
        self.lines = dict(lines)  # function -> (line, arguments, result)
        self.enums = []
        self.symbols = []
        at = first
        for name, kind, size in symbols:
            self.symbols.append((at, size, kind, name))
            at += max(size, 16) + 15 & ~15
        self.by_name = {name: (at, kind) for at, _, kind, name in self.symbols}

    def has(self, name):
        return name in self.by_name

    def address(self, name):
        """What a record has: inside of the function, or the stub of a library call."""
        at, kind = self.by_name[name]
        return self.base + at + (0 if kind == "P" else self.offset)

    def symbol_file(self, has_sizes):
        head = f"# symbols: {len(self.symbols)}\n# path name: {self.path}\n# build-id: {self.build_id}\n"
        lines = [f"{at:016x} {size:08x} {kind} {name}\n" for at, size, kind, name in self.symbols]
        if not has_sizes:
            ends = [(at + size, at, kind, name) for at, size, kind, name in self.symbols]
            head = ""
            lines = [f"{at:016x} {kind} {name}\n" for _, at, kind, name in ends]
            lines.append(f"{ends[-1][0]:016x} ? __sym_end\n")
        return head + "".join(lines)

    def debug_file(self):
        text = f"# path name: {self.path}\n# build-id: {self.build_id}\n"
        text += "".join(f"E: enum {name} {{{values}}}\n" for name, values in self.enums)
        for at, _, _, name in self.symbols:
            if name in self.lines:
                line, arguments, result = (*self.lines[name], None, None)[:3]
                text += f"F: {at:x} {name}\nL: {line} {self.name}.c\n"
                text += f"A: @{arguments}\n" if arguments else ""
                text += f"R: @{result}\n" if result else ""
        return text


class Session:
    def __init__(self, time_ns, pid, modules, name):
        self.time_ns, self.pid, self.modules = time_ns, pid, modules
        self.sid = hash_of(f"{name} {pid} {time_ns}", 16)

    def map_file(self):
        lines = [(m.base, m.base + m.length, "r-xp", f"{m.path} build-id:{m.build_id}")
                 for m in sorted(self.modules, key=lambda m: m.base)]
        lines.append((0xfffff023f000, 0xfffff0260000, "rw-p", "[stack]"))
        return "".join(f"{begin:x}-{end:x} {prot} 00000000 00:00 0{'':26}{what}\n"
                       for begin, end, prot, what in lines)


class Task:
    """One thread: its records, in bytes, and a clock that calls move on."""

    def __init__(self, recording, tid, pid, begin_ns, session):
        self.recording, self.tid, self.pid, self.now, self.session = recording, tid, pid, begin_ns, session
        self.data = bytearray()
        self.open = []
        self.random = tid

    def pass_time(self, ns=None):
        """Some time, the same in every run: between 37 and 164 ns unless given."""
        if ns is None:
            self.random = (self.random * 1103515245 + 12345) % 2**31
            ns = 37 + (self.random >> 8) % 128
        self.now += ns

    def address_of(self, name):
        return next(m for m in self.session.modules if m.has(name)).address(name)

    def put(self, kind, depth, address, payload=None, time_ns=None):
        order = self.recording.order
        time_ns = self.now if time_ns is None else time_ns
        has_more = payload is not None
        if order == "<":
            word = kind | has_more << 2 | MAGIC << 3 | depth << 6 | address << 16
        else:  # fields are counted from the other end
            word = kind << 62 | has_more << 61 | MAGIC << 58 | depth << 48 | address
        self.data += struct.pack(order + "QQ", time_ns, word & 2**64 - 1)
        if has_more:
            self.data += payload + bytes(-len(payload) % 8)

    def enter(self, name, payload=None, address=None):
        address = self.address_of(name) if address is None else address
        self.put(ENTRY, len(self.open), address, payload)
        self.open.append(address)
        self.pass_time()

    def leave(self, payload=None):
        address = self.open.pop()
        self.put(EXIT, len(self.open), address, payload)
        self.pass_time()

    def leave_again(self, name):
        """Return from a call that this task did not make, one level further out."""
        self.put(EXIT, len(self.open), self.address_of(name))
        self.pass_time()

    def call(self, name, inside=(), ns=None, payload=None, result=None):
        """A call with those inside of it: names, or arguments of call()."""
        self.enter(name, payload)
        for each in inside:
            if callable(each):
                each(self)
            elif isinstance(each, str):
                self.call(each)
            else:
                self.call(*each)
        if ns is not None:
            self.pass_time(ns)
        self.leave(result)

    def event(self, number, payload=None, time_ns=None):
        if payload is not None:
            payload = struct.pack(self.recording.order + "H", len(payload)) + payload
        self.put(EVENT, len(self.open), number, payload, time_ns)

    def lost(self, count):
        self.put(LOST, 0, count, time_ns=0)

    def words(self, layout, *values):
        return struct.pack(self.recording.order + layout, *values)


def strings(order, *texts):
    """Strings among arguments: a length, the bytes, room up to a multiple of four."""
    data = b""
    for text in texts:
        data += struct.pack(order + "H", len(text)) + text
        data += bytes(-len(data) % 4)
    return data


class Recording:
    def __init__(self, name, features=USUAL, order="<", version=4):
        self.name, self.features, self.order, self.version = name, features, order, version
        self.sessions, self.tasks, self.log, self.cpus = [], [], [], {}
        self.facts = {}       # lines of the file info that differ from the usual
        self.extra = {}       # more files, as bytes
        self.arguments = None # (argspec, retspec)
        self.has_lines = False

    def begin(self, time_ns, pid, modules):
        """A program starts: a session, and the task of it."""
        session = Session(time_ns, pid, modules, self.name)
        self.sessions.append(session)
        exe = modules[0].path
        key = "pid" if self.features & SYM_SIZE else "tid"
        self.log.append(f'SESS timestamp={stamp(time_ns)} {key}={pid} sid={session.sid} exename="{exe}"')
        return session

    def task(self, session, tid, time_ns, pid=None):
        pid = session.pid if pid is None else pid
        self.log.append(f"TASK timestamp={stamp(time_ns)} tid={tid} pid={pid}")
        found = next((t for t in self.tasks if t.tid == tid), None)
        if found:  # after exec()
            found.session, found.now, found.open = session, time_ns, []
            return found
        self.tasks.append(Task(self, tid, pid, time_ns, session))
        return self.tasks[-1]

    def fork(self, parent, pid, time_ns):
        self.log.append(f"FORK timestamp={stamp(time_ns)} pid={pid} ppid={parent.pid}")
        child = Task(self, pid, pid, time_ns, parent.session)
        child.open = list(parent.open)
        self.tasks.append(child)
        return child

    def dlopen(self, task, module):
        task.session.modules.append(module)
        self.log.append(f"DLOP timestamp={stamp(task.now)} tid={task.tid} sid={task.session.sid} "
                        f'base={module.base:x} libname="{module.path}"')
        module.is_late = True

    def perf(self, cpu, kind, misc, task, body=b"", time_ns=None):
        """A record of the kernel; each ends with process, thread and time."""
        time_ns = task.now if time_ns is None else time_ns
        body += struct.pack(self.order + "IIQ", task.pid, task.tid, time_ns)
        head = struct.pack(self.order + "IHH", kind, misc, 8 + len(body))
        self.cpus.setdefault(cpu, []).append((time_ns, head + body))
        self.features |= PERF_EVENT

    def comm(self, cpu, task, name, time_ns=None):
        text = name.encode() + b"\0"
        body = struct.pack(self.order + "II", task.pid, task.tid) + text + bytes(-len(text) % 8)
        self.perf(cpu, PERF_COMM, PERF_COMM_EXEC, task, body, time_ns)

    def sleep(self, task, ns, cpu=0, is_preempted=False):
        """The task leaves the processor and comes back."""
        self.perf(cpu, PERF_SWITCH, PERF_OUT | (PERF_PREEMPTED if is_preempted else 0), task)
        task.pass_time(ns)
        self.perf(cpu, PERF_SWITCH, 0, task)
        task.pass_time()

    def born(self, cpu, task, parent):
        body = struct.pack(self.order + "IIIIQ", task.pid, parent.pid, task.tid, parent.tid, task.now)
        self.perf(cpu, PERF_FORK, 0, parent, body, task.now)

    def died(self, cpu, task, parent):
        body = struct.pack(self.order + "IIIIQ", task.pid, parent.pid, task.tid, parent.tid, task.now)
        self.perf(cpu, PERF_EXIT, 0, task, body)

    def info_file(self):
        tids = sorted(t.tid for t in self.tasks)
        exe = self.sessions[0].modules[0]
        groups = [
            ("exename", [exe.path]),
            ("build_id", [exe.build_id]),
            ("exit_status", ["0"]),
            ("cmdline", [f"uftrace record -d {self.name} ./{exe.name}"]),
            ("cpuinfo", ["lines=2", "nr_cpus=2 / 4 (online/possible)", "desc=ARM64 (v8)"]),
            ("meminfo", ["20.5 / 23.4 GB (free / total)"]),
            ("osinfo", ["lines=3", "kernel=Linux 6.1.0", "hostname=cairn", 'distro="Debian GNU/Linux 12 (bookworm)"']),
            ("taskinfo", ["lines=2", f"nr_tid={len(tids)}", f"tids={','.join(map(str, tids))}"]),
            ("usageinfo", ["lines=6", "systime=0.003897", "usrtime=0.012000", "ctxsw=5 / 3 (voluntary / involuntary)",
                           "maxrss=6828", "pagefault=1 / 612 (major / minor)", "iops=2304 / 16 (read / write)"]),
            ("loadinfo", ["3.44 / 1.72 / 0.69"]),
            ("argspec", None),
            ("record_date", ["Sat Nov 14 23:58:02 2026"]),
            ("pattern_type", ["regex"]),
            ("uftrace_version", ["v0.19 ( aarch64 dwarf perf sched )"]),
            ("utc_offset", ["1794700083"]),
            ("sysctl", ["perf_event_paranoid=2 kptr_restrict=0"]),
        ]
        text, mask = "", 0
        for bit, (key, values) in enumerate(groups):
            values = self.facts.get(key, values)
            if key == "argspec" and self.arguments:
                values = [f"lines={len(self.arguments)}"]
            if values is None:
                continue
            mask |= 1 << bit
            text += "".join(f"{key}:{value}\n" for value in values)
            if key == "record_date":
                text += "elapsed_time:0.008667517 sec\n"
            if key == "argspec" and self.arguments:
                text += "".join(line + "\n" for line in self.arguments)
        data = 1 if self.order == "<" else 2
        head = b"Ftrace!\0" + struct.pack(self.order + "IHBBQQH6x", self.version, 40, data, 2, self.features, mask, 1024)
        return head + text.encode()

    def files(self):
        """Name -> bytes of every file of the directory."""
        result = {"info": self.info_file(), "default.opts": b"",
                  "task.txt": ("\n".join(self.log) + "\n").encode(), **self.extra}
        modules = {m.name: m for s in self.sessions for m in s.modules}
        for module in modules.values():
            result[f"{module.name}.sym"] = module.symbol_file(self.features & SYM_SIZE).encode()
            if self.has_lines and module.lines:
                result[f"{module.name}.dbg"] = module.debug_file().encode()
        for session in self.sessions:
            early = Session(session.time_ns, session.pid,
                            [m for m in session.modules if not getattr(m, "is_late", False)], self.name)
            result[f"sid-{session.sid}.map"] = early.map_file().encode()
        for task in self.tasks:
            result[f"{task.tid}.dat"] = bytes(task.data)
        for cpu, records in self.cpus.items():
            result[f"perf-cpu{cpu}.dat"] = b"".join(record for _, record in sorted(records, key=lambda item: item[0]))
        return result

    def write(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True)
        for name, data in self.files().items():
            (folder / name).write_bytes(data)
