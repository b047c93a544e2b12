/* A recording whose calls are sorted runs of tracks.
 * Threads: as model/calls/recording.h.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_CALLS_RECORDING_H
#define CN_FORMATS_EXCHANGE_READ_CALLS_RECORDING_H

#include "base/files/spool.h"
#include "base/map.h"
#include "formats/exchange/read/calls/runs.h"

struct cn_gpu_work;
struct cn_recording;

struct cn_call_track {
    struct cn_call_runs runs, readings;
    uint64_t input_pid, input_tid; /* in the input */
    uint32_t pid, tid;             /* in the recording: no two tracks have the same tid */
    bool is_thread;                /* its ids identify it */
    bool is_stream;                /* of a GPU */
    char *name;
    uint64_t first_ns, last_ns; /* of its calls; first_ns UINT64_MAX: none */
    uint64_t start_ns;          /* of its calls and readings; UINT64_MAX: none */
};

struct cn_call_tracks {
    struct cn_call_track *list;
    size_t count, capacity;
    struct cn_spool spool;
    uint64_t
        *moved; /* a bit for each item up to moved_max: it is in another track as well,
                      * to be read there */
    uint32_t moved_max;
};

static inline bool cn_call_tracks_moved(const struct cn_call_tracks *tracks,
                                        uint32_t order)
{
    return tracks->moved && order <= tracks->moved_max &&
           (tracks->moved[order / 64] >> order % 64 & 1) != 0;
}

/* A name of calls that is a function with a location. */
struct cn_located {
    uint32_t number; /* of the name */
    uint32_t line;
    char *name, *file;
};

/* Sorted by number. */
struct cn_located_list {
    const struct cn_located *list;
    size_t count;
};

void cn_call_tracks_done(struct cn_call_tracks *tracks);

/* Moves the tracks and the work of GPUs (NULL: none) into the recording and sorts the tracks by tid;
 * names are copied, those of functions and of counters. `base_ns` is added to the times of tracks. */
struct cn_recording *cn_call_recording_new(const char *module,
                                           const struct cn_names *names,
                                           struct cn_located_list located,
                                           const struct cn_names *counters,
                                           struct cn_call_tracks *tracks,
                                           struct cn_gpu_work *gpu, uint64_t base_ns);

#endif
