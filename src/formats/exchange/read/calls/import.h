/* Calls, readings of counters and flows in any order, from the readers of call traces, made into a
 * recording.
 *
 *     struct cn_call_import *import = cn_call_import_new("chrome trace");
 *     cn_call_import_track(import, pid, tid, (struct cn_bytes){0}, &track, err)
 *     name = cn_call_import_name(import, text);
 *     cn_call_import_add(import, track, time_ns, duration_ns, name, err)
 *     cn_call_import_finish(import, base_ns, &recording, err)
 *
 * Calls are sorted by time: in memory if they are few, otherwise in a nameless file in
 * $TMPDIR. Then they are nested: a call inside another is its callee, a call that overlaps
 * another of its track by more than a microsecond is moved to a further track, a strand. A call
 * without an end ends with its track. Strings are copied.
 * Threads: one thread at a time; the recording as in model/calls/recording.h.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_CALLS_IMPORT_H
#define CN_FORMATS_EXCHANGE_READ_CALLS_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/exchange/read/calls/flows.h"

struct cn_call_import;

enum {
    CN_CALL_TRACK_MAX = 1 << 16,
    CN_CALL_DEPTH_MAX = 1 << 14, /* of nested calls */
    CN_CALL_STRAND_MAX = 256,    /* of a track; calls that overlap more are cut */
};

#define CN_CALL_TIME_MAX ((uint64_t)1 << 62)
/* The duration of a call whose end comes later. */
#define CN_CALL_BEGIN UINT64_MAX

struct cn_call_import *cn_call_import_new(const char *module);
void cn_call_import_free(struct cn_call_import *import); /* NULL is fine */

/* The track of a thread. `what` tells apart several tracks of a thread; empty: there is
 * one. */
CN_CHECK bool cn_call_import_track(struct cn_call_import *import, uint64_t pid,
                                   uint64_t tid, struct cn_bytes what, uint32_t *out,
                                   struct cn_error *err);
void cn_call_import_track_name(struct cn_call_import *import, uint32_t track,
                               struct cn_bytes name);

/* The name of all tracks of a process that have none. */
void cn_call_import_process_name(struct cn_call_import *import, uint64_t pid,
                                 struct cn_bytes name);

uint32_t cn_call_import_name(struct cn_call_import *import, struct cn_bytes name);

/* A function with the location of its definition, as a name of calls. */
uint32_t cn_call_import_function(struct cn_call_import *import, const char *name,
                                 const char *file, uint32_t line);

/* True if a track has calls so far. */
bool cn_call_import_has_calls(const struct cn_call_import *import, uint32_t track);

/* A call with its duration, or the begin of a call with CN_CALL_BEGIN. */
CN_CHECK bool cn_call_import_add(struct cn_call_import *import, uint32_t track,
                                 uint64_t time_ns, uint64_t duration_ns, uint32_t name,
                                 struct cn_error *err);

/* The end of the innermost call that was added with CN_CALL_BEGIN. */
CN_CHECK bool cn_call_import_end(struct cn_call_import *import, uint32_t track,
                                 uint64_t time_ns, struct cn_error *err);

/* The counter with a name, of any track; CN_NONE after CN_NAMED_COUNTER_MAX others. */
uint32_t cn_call_import_counter(struct cn_call_import *import, struct cn_bytes name);

/* A reading of a counter, a finite number. */
CN_CHECK bool cn_call_import_reading(struct cn_call_import *import, uint32_t track,
                                     uint64_t time_ns, uint32_t counter, double value,
                                     struct cn_error *err);

/* An end or a step of the flow with an id; `name` as of a call, or CN_NONE. */
CN_CHECK bool cn_call_import_flow(struct cn_call_import *import, uint32_t track,
                                  uint64_t time_ns, enum cn_flow_step step, uint64_t id,
                                  uint32_t name, struct cn_error *err);

/* A track is a stream of a GPU, of a process. Its calls are operations of the GPU work. */
void cn_call_import_stream(struct cn_call_import *import, uint32_t track, uint64_t pid);

/* The work of GPUs, whose threads are tracks. The import takes the builder. */
struct cn_gpu_builder;
void cn_call_import_gpu(struct cn_call_import *import, struct cn_gpu_builder *builder);

/* Make the recording, which the caller closes; `base_ns` is added to all times. Releases
 * the import, also on failure. */
CN_CHECK bool cn_call_import_finish(struct cn_call_import *import, uint64_t base_ns,
                                    struct cn_recording **out, struct cn_error *err);

/* Open a file, compressed or not, with `read`. Errors name the path. `is_mapped`: the bytes
 * are a mapped file, whose pages cn_file_forget() can drop. */
typedef bool (*cn_call_import_fn)(struct cn_bytes bytes, bool is_mapped,
                                  struct cn_recording **out, struct cn_error *err);
CN_CHECK bool cn_call_import_open(struct cn_recording **out, const char *path,
                                  cn_call_import_fn read, struct cn_error *err);

#endif
