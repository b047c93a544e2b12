/* The memory that recorded programs share with the launcher: how to record, and for each
 * thread a ring of records. What a killed program leaves there is complete up to the
 * last record.
 *
 *   struct cn_rec_shared     one page and more, written by the launcher before the program
 *   struct cn_rec_rule[]     what to do at some functions
 *   struct cn_rec_value[]    arguments and results that the rules speak of
 *   struct cn_rec_track[]    one page a track
 *   rings                    ring_len bytes a track, a power of two
 *
 * A track is taken by a thread (FREE -> OPEN) and given back when its records are in the
 * file TID.dat. `recorded` and `drained` count bytes since the track was taken; a byte
 * lies in the ring at its count modulo ring_len. Whoever moves `drained` holds `writer`:
 * the thread itself, or the launcher. Both sides are built from the same source, so the
 * layout has no version of its own; `magic` tells a stale file.
 * Threads: as said; plain members are constant while a track is open.
 */
#ifndef CN_RECORD_SHARED_H
#define CN_RECORD_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CN_REC_ENV     "CAIRN_RECORD" /* where the shared memory lies */
#define CN_REC_LIBRARY "libcairn-record.so"
#define CN_REC_MAGIC   0x31306472636e7263u

enum {
    CN_REC_PAGE_LEN = 4096,
    CN_REC_TRACK_COUNT = 4096,
    CN_REC_RING_MIN = 16 << 10,
    CN_REC_RING_MAX = 64 << 20,
    CN_REC_DIR_MAX = 400,  /* bytes of the recording's path, with its NUL */
    CN_REC_NAME_MAX = 480, /* of the path of a file in it */
    CN_REC_EXE_MAX = 4096, /* of the program's path */
    CN_REC_RULE_MAX = 1 << 18,
    CN_REC_VALUE_MAX = 1 << 20,
    CN_REC_VALUES_MAX = 32, /* of one call */
};

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
    uint64_t file_len; /* of TID.zts with that; 0 before the first time */
    uint64_t data_len; /* of the records in it, with those of earlier tracks */
};

struct cn_rec_track {
    _Atomic uint64_t recorded;
    _Atomic uint64_t drained;
    _Atomic uint32_t state;  /* enum cn_rec_track_state */
    _Atomic uint32_t writer; /* the task that writes the ring out; 0 when none does */
    uint32_t tid, pid;
    uint64_t file_len;          /* of TID.dat when the track was taken */
    _Atomic uint64_t lost;      /* records dropped since the track was taken */
    _Atomic uint64_t extra_len; /* bytes that are no records of calls: values, events */
    /* A record before `recorded` that a signal handler found half stored: what lies there
     * and behind is written out once it is complete. UINT64_MAX when there is none. */
    _Atomic uint64_t unfinished;
    /* How far the launcher came in packing, in one of two places while it fills the
     * other: who takes over goes on from there. */
    struct cn_rec_packed packed[2];
    _Atomic uint32_t packed_index;
    uint64_t given_up_at; /* `drained` and 1 when its thread waited in vain; else 0 */
    uint8_t padding[CN_REC_PAGE_LEN - 128];
};

/* How far the track can be written out. */
static inline uint64_t cn_rec_track_end(const struct cn_rec_track *track)
{
    uint64_t recorded = atomic_load(&track->recorded);
    uint64_t unfinished = atomic_load(&track->unfinished);

    return unfinished < recorded ? unfinished : recorded;
}

/* Its thread has waited for the launcher in vain, and nothing has changed since. */
static inline bool cn_rec_track_is_stuck(const struct cn_rec_track *track)
{
    return track->given_up_at != 0 &&
           track->given_up_at == atomic_load(&track->drained) + 1;
}

/* What to do when one function of the program is called. */
struct cn_rec_rule {
    uint64_t low, high; /* its addresses, counted from where the program lies */
    uint32_t actions;   /* CN_REC_RULE_* */
    uint32_t depth;
    uint64_t time_ns;
    uint32_t arguments, results; /* the first of its values */
    uint16_t argument_count, result_count;
    uint32_t call_off; /* where the hook was called from, counted from `low`; 0: any */
};

/* Where a piece of a value lies when the hook is called. */
enum cn_rec_source {
    CN_REC_FROM_REGISTER,      /* in a register, numbered as in DWARF */
    CN_REC_FROM_VECTOR,        /* at the low end of a vector register */
    CN_REC_FROM_X87,           /* on top of the x87 stack */
    CN_REC_FROM_STACK,         /* above the stack pointer of the caller */
    CN_REC_FROM_FRAME,         /* in memory of the call itself: register and offset */
    CN_REC_FROM_POINTER,       /* where a register points, which may be anywhere */
    CN_REC_FROM_STACK_POINTER, /* where a word on the stack points */
    CN_REC_FROM_FRAME_POINTER, /* where a word of the call itself points */
};

struct cn_rec_piece {
    uint8_t source; /* enum cn_rec_source */
    uint8_t reg;
    uint16_t len;
    int32_t offset;
};

/* How a value is stored behind its record. */
enum cn_rec_value_kind {
    CN_REC_VALUE_PLAIN,      /* its bytes */
    CN_REC_VALUE_SIGNED,     /* a number, its sign repeated up to the size */
    CN_REC_VALUE_STRING,     /* the characters it points to */
    CN_REC_VALUE_STD_STRING, /* the same for a std::string of libstdc++ */
    CN_REC_VALUE_UNKNOWN,    /* zeros */
};

struct cn_rec_value {
    uint8_t kind; /* enum cn_rec_value_kind */
    uint8_t piece_count;
    uint16_t size; /* bytes that are stored of a plain one */
    struct cn_rec_piece pieces[4];
};

enum {
    CN_REC_RULE_ONLY = 1,   /* record it and what it calls, no others */
    CN_REC_RULE_NOT = 2,    /* neither it nor what it calls */
    CN_REC_RULE_HIDE = 4,   /* not it, but what it calls */
    CN_REC_RULE_ON = 8,     /* record from here on, in all threads */
    CN_REC_RULE_OFF = 16,   /* nothing from here on */
    CN_REC_RULE_DEPTH = 32, /* it and what it calls, down to `depth` levels */
    CN_REC_RULE_TIME = 64,  /* within it, leave out calls that take less than time_ns */
    CN_REC_RULE_FINISH = 128,
    CN_REC_RULE_PATCH = 256,        /* patch it */
    CN_REC_RULE_UNPATCH = 512,      /* do not */
    CN_REC_RULE_VALUES = 1024,      /* record its arguments or results */
    CN_REC_RULE_SITE = 2048,        /* record where it is called from */
    CN_REC_RULE_READ_STATM = 4096,  /* record how much memory changes in it */
    CN_REC_RULE_READ_FAULTS = 8192, /* and how often pages were not there */
};

/* What a recorded call costs: all of it, and the part between its two times. */
struct cn_rec_cost {
    uint64_t call_ps, inner_ps;
};

enum {
    CN_REC_COST_HOOK,       /* -pg, patched functions */
    CN_REC_COST_INSTRUMENT, /* -finstrument-functions */
    CN_REC_COST_LIBCALL,
    CN_REC_COST_LEFT_OUT, /* a call that filters leave out; 0 without filters */
    CN_REC_COST_COUNT,
};

/* A process asks the launcher for the rules about the functions of a file. */
enum cn_rec_request_state {
    CN_REC_REQUEST_FREE,
    CN_REC_REQUEST_TAKEN, /* by `owner`, who writes the path or reads the answer */
    CN_REC_REQUEST_ASKED,
    CN_REC_REQUEST_ANSWERED,
};

struct cn_rec_request {
    _Atomic uint32_t state; /* futex; enum cn_rec_request_state */
    _Atomic uint32_t owner;
    uint32_t first, count; /* of the rules; count 0: there are none */
    char path[CN_REC_EXE_MAX];
};

struct cn_rec_shared {
    uint64_t magic;
    uint64_t ring_len;
    uint32_t launcher_pid;
    _Atomic uint32_t bell;      /* futex: threads ring it when a ring fills */
    _Atomic uint32_t is_asleep; /* the launcher waits for the bell */
    _Atomic uint32_t stop;      /* enum cn_rec_stop */
    _Atomic uint32_t is_over;   /* what counts is written out; the rest is dropped */
    _Atomic uint32_t
        track_count; /* tracks that were ever taken; the others are untouched */
    _Atomic uint32_t session_count;
    _Atomic uint32_t is_on;      /* what --trace and the triggers switch */
    _Atomic uint64_t lost_count; /* of tracks given back */
    _Atomic uint64_t extra_len;  /* the same */
    _Atomic uint64_t byte_count; /* of records, written out */

    struct cn_rec_cost costs[CN_REC_COST_COUNT]; /* measured; 0 when unknown */

    /* The clock: nanoseconds are (counter * mult >> 32) + base_ns. */
    uint64_t clock_mult, clock_base_ns;
    uint64_t clock_start, clock_start_ns; /* a pair of both, to refine mult with */

    uint64_t size_limit;         /* of byte_count: then recording stops; 0: none */
    uint64_t time_limit_ns;      /* calls that take less are left out */
    uint32_t depth_limit;        /* calls nested deeper are left out; 0: none are */
    uint32_t rule_count;         /* in all; those of a file are sorted by address */
    uint32_t program_rule_count; /* of the program that is started, which come first */
    uint32_t value_count;
    uint8_t has_counter;     /* 0: ask the kernel for the time */
    uint8_t has_own_writing; /* threads write full rings themselves */
    uint8_t has_libcalls;
    uint8_t has_nested_libcalls; /* those of libraries, too */
    uint8_t has_sites;           /* all calls are recorded with where they were made */
    uint8_t has_patterns;        /* there may be rules about functions of any file */
    uint8_t has_call_rules;      /* and they are about calls, not only about patching */
    uint8_t has_only;            /* some rule says CN_REC_RULE_ONLY */
    uint8_t has_patch_list;      /* some rule says CN_REC_RULE_PATCH */
    char exe[CN_REC_EXE_MAX];    /* the program whose functions the rules are about */
    struct cn_rec_request request;
    char dir[CN_REC_DIR_MAX]; /* the recording, an absolute path */
};

enum {
    CN_REC_RULES_OFF = 64 << 10, /* a multiple of any page size, as the next one */
    CN_REC_VALUES_OFF = CN_REC_RULES_OFF + CN_REC_RULE_MAX * 48,
    CN_REC_TRACKS_OFF = CN_REC_VALUES_OFF + CN_REC_VALUE_MAX * 36,
    CN_REC_RINGS_OFF = CN_REC_TRACKS_OFF + CN_REC_TRACK_COUNT * CN_REC_PAGE_LEN,
};

_Static_assert(sizeof(struct cn_rec_track) == CN_REC_PAGE_LEN, "a track is a page");
_Static_assert(sizeof(struct cn_rec_shared) <= CN_REC_RULES_OFF, "rules follow");
_Static_assert(sizeof(struct cn_rec_rule) == 48, "CN_REC_VALUES_OFF counts on it");
_Static_assert(sizeof(struct cn_rec_value) == 36, "CN_REC_TRACKS_OFF counts on it");

#endif
