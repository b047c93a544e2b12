/* A recording whose calls are sorted runs of tracks: what imported calls become.
 * Threads: as model/calls/recording.h says.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_CALL_RECORDING_H
#define CN_FORMATS_EXCHANGE_READ_CALL_RECORDING_H

#include "base/files/spool.h"
#include "base/map.h"
#include "formats/exchange/read/call_runs.h"

struct cn_recording;

struct cn_call_track {
    struct cn_call_runs runs;
    uint32_t pid, tid; /* no two have the same tid */
    const char *name;
    uint64_t first_ns, last_ns;
};

/* Takes the runs and the spool; names are copied. `list` is put in the order of tids. */
struct cn_recording *cn_call_recording_new(const char *module,
                                           const struct cn_names *names,
                                           struct cn_call_track *list, size_t count,
                                           const struct cn_spool *spool,
                                           uint64_t base_ns);

#endif
