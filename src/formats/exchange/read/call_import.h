/* What the readers of call traces share: calls in any order become a recording.
 *
 *     struct cn_call_import *import = cn_call_import_new("chrome trace");
 *     track = cn_call_import_track(import, pid, tid, err)
 *     name = cn_call_import_name(import, text)
 *     cn_call_import_add(import, track, time_ns, duration_ns, name, err)
 *     cn_call_import_finish(import, base_ns, &recording, err)
 *
 * Calls are sorted by time, in memory as long as they are few and in a nameless file in
 * $TMPDIR otherwise. They are put inside each other: one that outlasts its caller ends
 * with it, one without an end ends with its track. Strings are copied.
 * Threads: one thread at a time; the recording as model/calls/recording.h says.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_CALL_IMPORT_H
#define CN_FORMATS_EXCHANGE_READ_CALL_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_call_import;
struct cn_recording;

enum {
    CN_CALL_TRACK_MAX = 1 << 16,
    CN_CALL_DEPTH_MAX = 1 << 14, /* calls inside each other */
};

#define CN_CALL_TIME_MAX ((uint64_t)1 << 62)
/* Durations of events that are half a call. */
#define CN_CALL_BEGIN UINT64_MAX

struct cn_call_import *cn_call_import_new(const char *module);
void cn_call_import_free(struct cn_call_import *import); /* NULL is fine */

/* The track of a thread, or of anything else that has calls inside each other: `what`
 * tells tracks of the same thread apart. */
CN_CHECK bool cn_call_import_track(struct cn_call_import *import, uint64_t pid,
                                   uint64_t tid, struct cn_bytes what, uint32_t *out,
                                   struct cn_error *err);
void cn_call_import_track_name(struct cn_call_import *import, uint32_t track,
                               struct cn_bytes name);

/* For tracks that have no name of their own. */
void cn_call_import_process_name(struct cn_call_import *import, uint64_t pid,
                                 struct cn_bytes name);

uint32_t cn_call_import_name(struct cn_call_import *import, struct cn_bytes name);

/* A call with its duration; or, with CN_CALL_BEGIN, the beginning of one. */
CN_CHECK bool cn_call_import_add(struct cn_call_import *import, uint32_t track,
                                 uint64_t time_ns, uint64_t duration_ns, uint32_t name,
                                 struct cn_error *err);

/* The end of the innermost call of the track that has begun. */
CN_CHECK bool cn_call_import_end(struct cn_call_import *import, uint32_t track,
                                 uint64_t time_ns, struct cn_error *err);

/* Hand out the recording, which the caller closes; `base_ns` is added to all times. The
 * import is gone in any case. */
CN_CHECK bool cn_call_import_finish(struct cn_call_import *import, uint64_t base_ns,
                                    struct cn_recording **out, struct cn_error *err);

#endif
