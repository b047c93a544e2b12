/* The memory that recorded programs share with the launcher: how to record, and for each
 * thread a ring of records. What a killed program leaves there is complete up to the
 * last record.
 *
 *   struct cn_rec_shared     one page and more, written by the launcher before the program
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
#include <stdint.h>

#define CN_REC_ENV      "CAIRN_RECORD"        /* where the shared memory lies */
#define CN_REC_LIBRARY  "libcairn-record.so"
#define CN_REC_MAGIC    0x31306472636e7263u

enum {
    CN_REC_PAGE_LEN = 4096,
    CN_REC_TRACK_COUNT = 4096,
    CN_REC_RING_MIN = 16 << 10,
    CN_REC_RING_MAX = 64 << 20,
    CN_REC_DIR_MAX = 400,       /* bytes of the recording's path, with its NUL */
    CN_REC_NAME_MAX = 480,      /* of the path of a file in it */
    CN_REC_SPEC_MAX = 32 << 10, /* bytes of all patterns and triggers */
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

struct cn_rec_track {
    _Atomic uint64_t recorded;
    _Atomic uint64_t drained;
    _Atomic uint32_t state;  /* enum cn_rec_track_state */
    _Atomic uint32_t writer; /* the task that writes the ring out; 0 when none does */
    uint32_t tid, pid;
    uint64_t file_len;     /* of TID.dat when the track was taken */
    _Atomic uint64_t lost; /* records dropped since the track was taken */
    uint8_t padding[CN_REC_PAGE_LEN - 48];
};

struct cn_rec_shared {
    uint64_t magic;
    uint64_t ring_len;
    uint32_t launcher_pid;
    _Atomic uint32_t bell;      /* futex: threads ring it when a ring fills */
    _Atomic uint32_t is_asleep; /* the launcher waits for the bell */
    _Atomic uint32_t stop;      /* enum cn_rec_stop */
    _Atomic uint32_t track_count; /* tracks that were ever taken; the others are untouched */
    _Atomic uint32_t session_count;
    _Atomic uint32_t is_on;      /* what --trace and the triggers switch */
    _Atomic uint64_t lost_count; /* of tracks given back */
    _Atomic uint64_t byte_count; /* of records, written out */

    /* The clock: nanoseconds are (counter * mult >> 32) + base_ns. */
    uint64_t clock_mult, clock_base_ns;
    uint64_t clock_start, clock_start_ns; /* a pair of both, to refine mult with */

    uint64_t size_limit;      /* of all records, in bytes; 0: none */
    uint64_t time_limit_ns;   /* calls that take less are left out */
    uint32_t depth_limit;     /* deeper calls are left out; 0: none */
    uint32_t function_len_min; /* smaller functions are left out */
    uint8_t has_counter;      /* 0: ask the kernel for the time */
    uint8_t has_own_writing;  /* threads write full rings themselves */
    uint8_t has_libcalls;
    uint8_t has_callsites;
    uint8_t is_glob;          /* how patterns are meant; 0: regular expressions */
    uint32_t spec_len;
    char spec[CN_REC_SPEC_MAX]; /* "F:pattern\0N:pattern\0...": letters as the options */
    char dir[CN_REC_DIR_MAX];   /* the recording, an absolute path */
};

enum {
    CN_REC_TRACKS_OFF = 64 << 10, /* a multiple of any page size */
    CN_REC_RINGS_OFF = CN_REC_TRACKS_OFF + CN_REC_TRACK_COUNT * CN_REC_PAGE_LEN,
};

_Static_assert(sizeof(struct cn_rec_track) == CN_REC_PAGE_LEN, "a track is a page");
_Static_assert(sizeof(struct cn_rec_shared) <= CN_REC_TRACKS_OFF, "tracks follow");

#endif
