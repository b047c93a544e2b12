/* JavaScript profiles in Chrome traces, and in those of Hermes, as calls.
 *
 * V8 writes an event "Profile" and events "ProfileChunk" with the same id, or one event
 * "CpuProfile"; Hermes writes "stackFrames" and "samples" beside the events. A function that is in
 * successive samples of a thread is one call. The calls are in the track of the thread, or if that
 * has events, in a track of their own.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_CALLS_JS_H
#define CN_FORMATS_EXCHANGE_READ_CALLS_JS_H

#include "formats/exchange/read/js_profile.h"

struct cn_call_import;

struct cn_js_thread {
    uint64_t pid, tid;
};

/* The profiles of a trace. A zeroed struct has none. */
struct cn_js_calls {
    struct cn_js_traced {
        struct cn_js_profile profile;
        struct cn_js_thread thread;
    } * list;
    size_t count, capacity;
    struct cn_map profile_of; /* by id */

    struct cn_js_profile frames;  /* of Hermes, with the samples of all threads */
    struct cn_js_thread *threads; /* of its samples */
    size_t thread_count, thread_capacity;
    struct cn_map thread_of;
    uint64_t unknown_count;     /* samples of functions that the trace does not have */
    struct cn_js_sample sample; /* the current one */
    struct cn_js_thread sampled;
    struct cn_json_reader *json;
};

void cn_js_calls_done(struct cn_js_calls *js);

/* A profile with an id; the thread of its first event counts. */
struct cn_js_profile *cn_js_calls_profile(struct cn_js_calls *js, uint64_t id,
                                          struct cn_js_thread thread);

/* Read the rest of an array "samples", or of an object "stackFrames". */
CN_CHECK bool cn_js_calls_read_samples(struct cn_js_calls *js,
                                       struct cn_json_reader *json, struct cn_error *err);
CN_CHECK bool cn_js_calls_read_frames(struct cn_js_calls *js, struct cn_json_reader *json,
                                      struct cn_error *err);

/* Add the calls of all profiles. `damage` receives the first damage of a profile, which is left
 * out. */
CN_CHECK bool cn_js_calls_add(struct cn_js_calls *js, struct cn_call_import *import,
                              struct cn_error *damage, struct cn_error *err);

#endif
