/* The memory shared by recorded programs and the launcher: the settings, and a ring of
 * records for each thread. When a program is killed, its ring is valid up to the last
 * record.
 *
 *   struct cn_rec_shared     set by the launcher before the program starts
 *   struct cn_rec_rule_set[] which rules apply; the agent publishes new ones
 *   struct cn_rec_rule[]     rules about functions
 *   struct cn_rec_value[]    arguments and results to record, for the rules
 *   struct cn_rec_patch[]    functions to patch that have no hooks
 *   struct cn_rec_track[]    one page for each track
 *   rings                    one for each track, whose length is a power of two
 *
 * The launcher allocates memory for tracks and their rings before threads need them
 * (`ready_count`): a thread never touches memory that may not exist, and needs no file.
 * A thread takes a track (FREE -> OPEN); it is released when its records are in the file
 * TID.dat. A thread that cannot write files of the recording leaves them to the launcher. `recorded` and `drained` are positions in bytes since the track was taken; the
 * offset in the ring is the position modulo its length. To change `drained`, the thread or
 * the launcher must lock `writer`. Both sides are built from the same source, so the layout
 * has no version; `magic` identifies it.
 * Threads: as above; plain members are constant while a track is open.
 */
#ifndef CN_RECORD_SHARED_H
#define CN_RECORD_SHARED_H

#include <elf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CN_REC_ENV        "CAIRN_RECORD" /* path of the shared memory */
#define CN_REC_ENV_COMING "+"            /* before the path: `coming_count` counts it */
#define CN_REC_LIBRARY    "libcairn-record.so"
#define CN_REC_MEMORY_LIBRARY \
    "libcairn-record-memory.so" /* the same, in the place of malloc() */
/* Beginnings of the names of libraries that the recorder uses, or that reports its return
 * addresses: never patched, and their own library calls are not recorded. */
#define CN_REC_BASE_LIBRARIES                                                     \
    "ld-linux libc.so. libpthread.so. libdl.so. librt.so. libgcc_s. libasan.so. " \
    "libtsan.so. libubsan.so. liblsan.so. linux-vdso libcairn-"

#define CN_REC_MAGIC 0x33306472636e7263u

/* The processor that this file is compiled for. */
#if defined(__x86_64__)
enum { CN_REC_MACHINE = EM_X86_64 };
#else
enum { CN_REC_MACHINE = EM_AARCH64 };
#endif

enum {
    CN_REC_PAGE_LEN = 4096,
    CN_REC_TRACK_COUNT = 1 << 16,
    CN_REC_TRACK_LEN = 256, /* so that threads do not write to the same line of a cache */
    CN_REC_RING_MIN = 16 << 10,
    CN_REC_RING_MAX = 64 << 20,
    CN_REC_RING_KINDS = 3,
    CN_REC_DIR_MAX = 400,  /* bytes of the path of the recording, with its NUL */
    CN_REC_NAME_MAX = 480, /* of the path of a file in the recording */
    CN_REC_EXE_MAX = 4096, /* of the path of the program */
    CN_REC_RULE_MAX = 1 << 18,
    CN_REC_SET_COUNT = 256, /* rule sets that exist at the same time; a power of two */
    CN_REC_FILE_MAX = 1020, /* files that have rules */
    CN_REC_VALUE_MAX = 1 << 20,
    CN_REC_VALUES_MAX = 32, /* of one call */
    CN_REC_PATCH_MAX = 1 << 18,
    CN_REC_MOVED_MAX = 32, /* bytes of moved code */
    CN_REC_WATCH_MAX = 16,
    CN_REC_SIGNAL_COUNT = 65,
};

/* Whether a program that is started can be recorded. */
enum cn_rec_exec_kind {
    CN_REC_EXEC_UNKNOWN, /* a script, or a file that cannot be read */
    CN_REC_EXEC_LOADED,  /* its loader loads the recorder */
    CN_REC_EXEC_STATIC,
    CN_REC_EXEC_SETUID,  /* its loader ignores LD_PRELOAD */
    CN_REC_EXEC_FOREIGN, /* for another processor */
    CN_REC_EXEC_LIBC,    /* its loader is not that of glibc, which the recorder needs */
    CN_REC_EXEC_KINDS,
};

/* True for the path of a loader that can load the recorder. */
static inline bool cn_rec_is_known_loader(const char *path)
{
    static const char *const names[] = {"ld-linux", "ld-lsb", "ld.so", "ld64.so"};
    const char *name = path;

    for (; *path; path++)
        name = *path == '/' ? path + 1 : name;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        unsigned len = 0;

        while (names[i][len] && name[len] == names[i][len])
            len++;
        if (!names[i][len])
            return true;
    }
    return false;
}

enum cn_rec_track_state { CN_REC_FREE, CN_REC_TAKEN, CN_REC_OPEN, CN_REC_CLOSED };

/* Why recording ended before the program did. */
enum cn_rec_stop {
    CN_REC_RUNNING,
    CN_REC_STOP_DISK,
    CN_REC_STOP_SIZE,
    CN_REC_STOP_DURATION,
    CN_REC_STOP_FINISH,
};

struct cn_rec_packed {
    uint64_t drained;
    uint64_t file_len; /* of TID.zts; 0 before the first write */
    uint64_t data_len; /* of the records in it, including earlier tracks */
};

struct cn_rec_track {
    _Atomic uint64_t recorded;
    _Atomic uint64_t drained;
    _Atomic uint32_t state;  /* enum cn_rec_track_state */
    _Atomic uint32_t writer; /* lock: the task that drains the ring; 0: none */
    uint32_t tid, pid;
    uint64_t file_len;     /* of TID.dat before its first record; UINT64_MAX: unknown */
    _Atomic uint64_t lost; /* records dropped since the track was taken */
    _Atomic uint64_t extra_len; /* bytes of values and events */
    /* Position of a record that a signal handler found half stored: the ring is drained
     * up to there until it is complete. UINT64_MAX: none. */
    _Atomic uint64_t unfinished;
    /* Progress of packing, double-buffered: packed_index is the valid one. A process that
     * takes over continues from there. */
    struct cn_rec_packed packed[2];
    _Atomic uint32_t packed_index;
    uint64_t given_up_at; /* `drained` + 1 when its thread waited in vain; else 0 */
    /* A line that is missing in task.txt: that of a thread, or one that could not be
     * written. */
    uint64_t task_ns;
    uint64_t ring_len;            /* a power of two, at most that of others */
    uint32_t task_parent;         /* of a forked process; 0 for a thread */
    _Atomic uint32_t is_unlisted; /* set last; who writes the line clears it */
    uint32_t is_heap;             /* its file is TID.mem, never packed */
    uint8_t padding[CN_REC_TRACK_LEN - 156];
};

/* The end of the records that can be drained. */
static inline uint64_t cn_rec_track_end(const struct cn_rec_track *track)
{
    uint64_t recorded = atomic_load(&track->recorded);
    uint64_t unfinished = atomic_load(&track->unfinished);

    return unfinished < recorded ? unfinished : recorded;
}

/* True if its thread waited for the launcher in vain, and nothing was drained since. */
static inline bool cn_rec_track_is_stuck(const struct cn_rec_track *track)
{
    return track->given_up_at != 0 &&
           track->given_up_at == atomic_load(&track->drained) + 1;
}

/* How a condition compares an argument with a number. */
enum cn_rec_compare {
    CN_REC_ALWAYS, /* no condition */
    CN_REC_EQUAL,
    CN_REC_UNEQUAL,
    CN_REC_LESS,
    CN_REC_LESS_EQUAL,
    CN_REC_MORE,
    CN_REC_MORE_EQUAL,
    CN_REC_BITS,
};

/* A rule about one function. Several rules of a function follow each other: the first one
 * has no condition and all values, the others apply in order. */
struct cn_rec_rule {
    uint64_t low, high; /* its addresses, relative to its file */
    uint32_t actions;   /* CN_REC_RULE_* */
    uint32_t depth;
    uint64_t time_ns;
    uint32_t arguments, results; /* indices of its first values */
    uint16_t argument_count, result_count;
    uint32_t call_off; /* return address of the hook, relative to `low`; 0: any */
    uint32_t size;     /* of the function */
    uint32_t size_min;
    int64_t limit;      /* of its condition */
    uint32_t condition; /* index of the value that is compared */
    uint8_t compare;    /* enum cn_rec_compare */
    uint8_t has_more;   /* another rule for this function follows */
};

/* Where a piece of a value (as in DWARF) is when the hook is called. */
enum cn_rec_source {
    CN_REC_FROM_REGISTER,      /* in a register, by DWARF number */
    CN_REC_FROM_VECTOR,        /* at the low end of a vector register */
    CN_REC_FROM_X87,           /* on top of the x87 stack */
    CN_REC_FROM_STACK,         /* above the stack pointer of the caller */
    CN_REC_FROM_FRAME,         /* in the stack frame of the call: register and offset */
    CN_REC_FROM_POINTER,       /* where a register points, which may be invalid */
    CN_REC_FROM_STACK_POINTER, /* where a word on the stack points */
    CN_REC_FROM_FRAME_POINTER, /* where a word in the stack frame points */
};

struct cn_rec_piece {
    uint8_t source; /* enum cn_rec_source */
    uint8_t reg;
    uint16_t len;
    int32_t offset;
};

/* How a value is stored in the payload of its record. */
enum cn_rec_value_kind {
    CN_REC_VALUE_PLAIN,      /* its bytes */
    CN_REC_VALUE_SIGNED,     /* a number, sign-extended to the size */
    CN_REC_VALUE_STRING,     /* the characters it points to */
    CN_REC_VALUE_STD_STRING, /* the same for a std::string of libstdc++ */
    CN_REC_VALUE_UNKNOWN,    /* zeros */
};

struct cn_rec_value {
    uint8_t kind; /* enum cn_rec_value_kind */
    uint8_t piece_count;
    uint16_t size; /* stored bytes of a plain value */
    struct cn_rec_piece pieces[4];
};

enum {
    CN_REC_RULE_ONLY = 1,   /* record it and its callees, no others */
    CN_REC_RULE_NOT = 2,    /* neither it nor its callees */
    CN_REC_RULE_HIDE = 4,   /* not it, but its callees */
    CN_REC_RULE_ON = 8,     /* record from here on, in all threads */
    CN_REC_RULE_OFF = 16,   /* nothing from here on */
    CN_REC_RULE_DEPTH = 32, /* it and its callees, down to `depth` levels */
    CN_REC_RULE_TIME = 64,  /* inside it, leave out calls shorter than time_ns */
    CN_REC_RULE_FINISH = 128,
    CN_REC_RULE_PATCH = 256,        /* patch it */
    CN_REC_RULE_UNPATCH = 512,      /* do not patch it */
    CN_REC_RULE_VALUES = 1024,      /* record its arguments or results */
    CN_REC_RULE_SITE = 2048,        /* record its call site */
    CN_REC_RULE_READ_STATM = 4096,  /* record the change of memory usage in it */
    CN_REC_RULE_READ_FAULTS = 8192, /* record the number of page faults in it */
    CN_REC_RULE_TRACE = 1 << 14,    /* record it even if it is short */
    CN_REC_RULE_CALLER = 1 << 15, /* record it and the calls that lead to it, no others */
    CN_REC_RULE_SIZE = 1 << 16,   /* inside it, leave out functions below size_min */
    CN_REC_RULE_SIZED = 1 << 17,  /* its size is known, for RULE_SIZE */
    CN_REC_RULE_READ_CYCLES = 1 << 18, /* record the counters of the processor in it */
    CN_REC_RULE_READ_CACHE = 1 << 19,
    CN_REC_RULE_READ_BRANCHES = 1 << 20,
    CN_REC_RULES_READ = CN_REC_RULE_READ_STATM | CN_REC_RULE_READ_FAULTS |
                        CN_REC_RULE_READ_CYCLES | CN_REC_RULE_READ_CACHE |
                        CN_REC_RULE_READ_BRANCHES,
    CN_REC_RULE_PATCH_NAMED = 1 << 21, /* patch it, says a pattern that names its file */
};

/* Pairs of counters of the processor, in the order of their actions. */
enum { CN_REC_PMU_CYCLES, CN_REC_PMU_CACHE, CN_REC_PMU_BRANCHES, CN_REC_PMU_COUNT };

/* A variable of the started program: its change is recorded. */
struct cn_rec_watch {
    uint64_t address; /* relative to its file */
    uint32_t size;    /* 1, 2, 4 or 8 */
};

/* What a signal does. */
enum { CN_REC_SIGNAL_ON = 1, CN_REC_SIGNAL_OFF = 2, CN_REC_SIGNAL_FINISH = 4 };

/* A place in moved code that refers to another address. */
struct cn_rec_fixup {
    int32_t target; /* relative to where the code was */
    uint8_t field;  /* offset of the distance, or of the branch or address */
    uint8_t end;    /* of the instruction, from which the distance counts; on x86_64 */
    uint8_t kind;   /* enum cn_rec_fixup_kind */
    uint8_t unused;
};

enum cn_rec_fixup_kind {
    CN_REC_FIXUP_DISTANCE, /* 32 bits from the end of the instruction */
    CN_REC_FIXUP_BRANCH,   /* b */
    CN_REC_FIXUP_ADDRESS,  /* 64 bits */
};

/* A function without hooks that is to be patched: the jump goes over nops, or over
 * instructions that are moved. The launcher has checked that nothing jumps between them. */
struct cn_rec_patch {
    uint64_t at;      /* of the jump, relative to its file */
    uint32_t sum;     /* of the bytes there, cn_rec_patch_sum() */
    uint8_t len;      /* of the nops or instructions; the body continues after them */
    uint8_t code_len; /* of what was moved; 0: nops */
    uint8_t fixup_count;
    uint8_t unused;
    struct cn_rec_fixup fixups[3];
    uint8_t code[CN_REC_MOVED_MAX]; /* as it was, except for fields of fixups */
};

static inline uint32_t cn_rec_patch_sum(const uint8_t *bytes, uint8_t len)
{
    uint32_t sum = 2166136261u;

    for (uint8_t i = 0; i < len; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    return sum;
}

/* The cost of a recorded call: in all, and between its two times. */
struct cn_rec_cost {
    uint64_t call_ps, inner_ps;
};

enum {
    CN_REC_COST_HOOK,       /* -pg */
    CN_REC_COST_PATCHED,    /* -fpatchable-function-entry */
    CN_REC_COST_INSTRUMENT, /* -finstrument-functions */
    CN_REC_COST_LIBCALL,
    CN_REC_COST_LEFT_OUT, /* a call that filters leave out; 0 without filters */
    CN_REC_COST_COUNT,
};

/* Functions of Python. */
#define CN_REC_PYTHON_PREFIX "python:" /* of a request */
enum {
    CN_REC_PYTHON_ON = 1,
    CN_REC_PYTHON_LIBCALLS = 2,  /* also those of libraries that the script calls */
    CN_REC_PYTHON_NESTED = 4,    /* and those that libraries call */
    CN_REC_PYTHON_MAX = 1 << 16, /* of their addresses */
};

/* A request of a process to the launcher: the rules for the functions of a file. */
enum cn_rec_request_state {
    CN_REC_REQUEST_FREE,
    CN_REC_REQUEST_TAKEN, /* by `owner`, which writes the path or reads the answer */
    CN_REC_REQUEST_ASKED,
    CN_REC_REQUEST_ANSWERED,
};

struct cn_rec_request {
    _Atomic uint32_t state; /* futex; enum cn_rec_request_state */
    _Atomic uint32_t owner;
    uint32_t file; /* its number in rule sets */
    uint32_t rule; /* of a function of Python: 1 + its index; 0: none */
    uint32_t patch_first, patch_count;
    uint32_t is_program; /* not a library */
    char path[CN_REC_EXE_MAX];
};

/* What is recorded from now on. The set of a version is sets[version % CN_REC_SET_COUNT];
 * once published it is constant, except that files are added: a thread that reads a version
 * sees all of a change or nothing. The rules of a file are sorted by address. */
struct cn_rec_rule_set {
    uint64_t time_limit_ns;                  /* leave out shorter calls */
    uint32_t depth_limit;                    /* leave out deeper calls; 0: none */
    uint32_t size_min;                       /* leave out functions of fewer bytes */
    uint8_t has_only;                        /* some rule has CN_REC_RULE_ONLY */
    uint8_t has_caller;                      /* some rule has CN_REC_RULE_CALLER */
    _Atomic uint64_t files[CN_REC_FILE_MAX]; /* first rule, and in the high half: count */
};

/* A program that ends asks the launcher to look for its leaks, and waits. */
struct cn_rec_leaks {
    _Atomic uint32_t state; /* futex; enum cn_rec_request_state */
    _Atomic uint32_t pid;   /* that asks; 0: none */
    uint32_t tid;
    uint64_t program; /* its number in the records of memory */
};

struct cn_rec_shared {
    uint64_t magic;
    uint64_t ring_lens[CN_REC_RING_KINDS]; /* each a power of two, at least a page */
    uint32_t launcher_pid;
    _Atomic uint32_t bell;      /* futex: threads increment it when a ring fills */
    _Atomic uint32_t is_asleep; /* the launcher waits for the bell */
    _Atomic uint32_t stop;      /* enum cn_rec_stop */
    _Atomic uint32_t is_over;   /* the recording is complete; later records are dropped */
    _Atomic uint32_t track_count;    /* tracks ever taken */
    _Atomic uint32_t ready_count;    /* futex: tracks that have memory */
    _Atomic uint32_t waiting_count;  /* threads that wait for a track */
    _Atomic uint32_t is_full;        /* there is no memory for more */
    _Atomic uint32_t free_count;     /* released tracks; about */
    _Atomic uint32_t free_hint;      /* the last track that was released */
    _Atomic uint32_t missed_count;   /* threads without a track, not recorded */
    _Atomic uint32_t coming_count;   /* children that have no track yet */
    _Atomic uint32_t bypassed_count; /* functions whose calls are not recorded */
    _Atomic uint32_t
        unloaded[CN_REC_EXEC_KINDS]; /* programs started without the recorder, by kind */
    _Atomic uint32_t session_count;
    _Atomic uint32_t is_on;           /* switched by --trace and triggers */
    _Atomic uint64_t lost_count;      /* of released tracks */
    _Atomic uint32_t sandboxed_count; /* processes that restricted their system calls */
    _Atomic uint64_t extra_len;       /* of released tracks */
    _Atomic uint64_t byte_count;      /* of drained records */
    _Atomic uint64_t memory_len;      /* of these, of memory */
    _Atomic uint64_t memory_lost_count;
    _Atomic uint32_t own_malloc_count; /* programs with their own */
    _Atomic uint32_t heap_count;       /* programs whose memory is recorded */

    struct cn_rec_cost costs[CN_REC_COST_COUNT]; /* measured; 0 when unknown */

    /* The clock: nanoseconds are (counter * mult >> 32) + base_ns. */
    uint64_t clock_mult, clock_base_ns;

    uint64_t size_limit;           /* limit of byte_count; 0: none */
    _Atomic uint32_t rule_version; /* of the current rule set */
    _Atomic uint32_t rule_count;   /* of all files and sets */
    uint32_t value_count;
    uint32_t patch_count;         /* of all files */
    uint32_t program_patch_count; /* of the started program; these come first */
    _Atomic uint32_t
        unpatched_count;     /* the code is another, or there is no room near it */
    uint16_t machine;        /* EM_* of the launcher: another one is emulated */
    uint8_t has_counter;     /* 0: use the kernel's clock */
    uint8_t python;          /* CN_REC_PYTHON_*; 0: do not record its functions */
    uint8_t has_own_writing; /* threads drain full rings themselves */
    uint8_t has_libcalls;
    uint8_t without_throws;      /* of these, not CN_REC_LIBCALL_THROWS and _CATCHES */
    uint8_t has_bare_jumps;      /* calls that longjmp() leaves have no exits */
    uint8_t has_nested_libcalls; /* also those of libraries */
    uint8_t has_sites;           /* record all call sites */
    uint8_t has_patterns;        /* there may be rules for any file */
    uint8_t has_call_rules;      /* and they are not only about patching */
    uint8_t has_agent;           /* rules may change while programs run */
    uint8_t has_waits;           /* some calls are recorded when they have ended */
    uint8_t has_slow_rules;      /* assembly cannot filter calls: see calls/filter.h */
    uint8_t has_patch_list;      /* some rule has CN_REC_RULE_PATCH */
    uint8_t patches_unnamed;     /* also functions without a rule, as they have no name */
    uint8_t watches_cpu;         /* record on which processor a thread runs */
    uint8_t has_leaks;           /* programs ask for a check at their end */
    uint8_t has_signals;         /* some signal has an action */
    uint8_t signals[CN_REC_SIGNAL_COUNT]; /* by number, CN_REC_SIGNAL_* */
    uint32_t watch_count;
    struct cn_rec_watch watches[CN_REC_WATCH_MAX];
    char bypassed[64];        /* the name of one of them */
    char exe[CN_REC_EXE_MAX]; /* the started program */
    struct cn_rec_request request;
    struct cn_rec_leaks leaks;
    char dir[CN_REC_DIR_MAX]; /* absolute path of the recording */
};

enum {
    CN_REC_SETS_OFF = 64 << 10,
    /* A multiple of all page sizes, as those below. */
    CN_REC_RULES_OFF = CN_REC_SETS_OFF + CN_REC_SET_COUNT * (8 << 10),
    CN_REC_VALUES_OFF = CN_REC_RULES_OFF + CN_REC_RULE_MAX * 72,
    CN_REC_PATCHES_OFF = CN_REC_VALUES_OFF + CN_REC_VALUE_MAX * 36,
    CN_REC_TRACKS_OFF = CN_REC_PATCHES_OFF + CN_REC_PATCH_MAX * 72,
    CN_REC_RINGS_OFF = CN_REC_TRACKS_OFF + CN_REC_TRACK_COUNT * CN_REC_TRACK_LEN,
};

_Static_assert(sizeof(struct cn_rec_track) == CN_REC_TRACK_LEN, "padding");
_Static_assert(sizeof(struct cn_rec_shared) <= CN_REC_SETS_OFF, "rule sets follow");
_Static_assert(sizeof(struct cn_rec_rule_set) <= 8 << 10,
               "CN_REC_RULES_OFF counts on it");
_Static_assert(sizeof(struct cn_rec_rule) == 72, "CN_REC_VALUES_OFF counts on it");
_Static_assert(sizeof(struct cn_rec_value) == 36, "CN_REC_PATCHES_OFF counts on it");
_Static_assert(sizeof(struct cn_rec_patch) == 72, "CN_REC_TRACKS_OFF counts on it");

/* The first tracks have the longest rings: memory suffices for ten thousand threads. */
static const uint64_t cn_rec_ring_firsts[CN_REC_RING_KINDS + 1] = {0, 64, 512,
                                                                   CN_REC_TRACK_COUNT};

/* The length of the ring of track `i`, and its offset, which is also the length of all before. */
static inline uint64_t cn_rec_ring_len(const struct cn_rec_shared *shared, uint64_t i)
{
    unsigned kind = 0;

    while (i >= cn_rec_ring_firsts[kind + 1] && kind < CN_REC_RING_KINDS - 1)
        kind++;
    return shared->ring_lens[kind];
}

static inline uint64_t cn_rec_ring_off(const struct cn_rec_shared *shared, uint64_t i)
{
    uint64_t off = CN_REC_RINGS_OFF;

    for (unsigned kind = 0; kind < CN_REC_RING_KINDS && i > cn_rec_ring_firsts[kind];
         kind++) {
        uint64_t end = cn_rec_ring_firsts[kind + 1];

        off += ((i < end ? i : end) - cn_rec_ring_firsts[kind]) * shared->ring_lens[kind];
    }
    return off;
}

/* Count drained bytes; returns how many there are. */
static inline uint64_t cn_rec_count_drained(struct cn_rec_shared *shared, bool is_heap,
                                            uint64_t len)
{
    if (is_heap) {
        atomic_fetch_add(&shared->extra_len, len);
        atomic_fetch_add(&shared->memory_len, len);
    }
    return atomic_fetch_add(&shared->byte_count, len) + len;
}

/* Where the records that a track has lost are counted. */
static inline _Atomic uint64_t *cn_rec_lost_count(struct cn_rec_shared *shared,
                                                  const struct cn_rec_track *track)
{
    return track->is_heap ? &shared->memory_lost_count : &shared->lost_count;
}

/* The rule set of a version. */
static inline struct cn_rec_rule_set *cn_rec_rule_set(const struct cn_rec_shared *shared,
                                                      uint32_t version)
{
    uintptr_t sets = (uintptr_t)shared + CN_REC_SETS_OFF;

    return (struct cn_rec_rule_set *)sets + version % CN_REC_SET_COUNT;
}

#endif
