/* What Chrome traces of torch.profiler (Kineto) contain of GPUs: kernels, copies and memsets with
 * their streams, the calls of the CUDA or HIP run-time that launched them, joined by correlation
 * ids, and the waiting of threads for them. Readers of other profilers' files (read/sqlite) make the
 * same events.
 *
 *     cn_kineto_category(&event, token); cn_kineto_name(&event, token);
 *     cn_kineto_argument(&event, json, member, err)    for each member of an event
 *     cn_kineto_take(kineto, &event, ...)              for each complete event
 *     cn_kineto_finish(kineto, import);
 *
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_CALLS_KINETO_H
#define CN_FORMATS_EXCHANGE_READ_CALLS_KINETO_H

#include "base/bytes/json_reader.h"
#include "model/gpu/work.h"

struct cn_call_import;
struct cn_kineto;
struct cn_recording;

enum cn_kineto_category {
    CN_KINETO_UNKNOWN, /* not read yet */
    CN_KINETO_OTHER,
    CN_KINETO_CALL, /* of the run-time or the driver */
    CN_KINETO_KERNEL,
    CN_KINETO_COPY,
    CN_KINETO_SET,
    CN_KINETO_SYNC,
    CN_KINETO_PYTHON, /* the call of a Python function */
    CN_KINETO_SPAN,   /* time of the profiler itself: no call */
    CN_KINETO_ARROW,  /* from a launch to its operation: correlation ids say the same */
};

struct cn_kineto_event {
    uint8_t category, detail; /* `detail` as in struct cn_gpu_op, by the name */
    bool is_wait;             /* by its name, a call that waits for a GPU */
    bool has_device, has_stream, has_shape;
    uint32_t process; /* of correlation ids and streams; 0: the file has one */
    uint32_t device, context;
    uint64_t stream, correlation, bytes;
    struct cn_gpu_shape shape;
};

struct cn_kineto *cn_kineto_new(void);
void cn_kineto_free(struct cn_kineto *kineto); /* NULL is fine */

void cn_kineto_category(struct cn_kineto_event *event, const struct cn_json_token *token);
void cn_kineto_name(struct cn_kineto_event *event, const struct cn_json_token *token);

/* The name of a Python function, "FILE(LINE): NAME", as a name of calls. */
uint32_t cn_kineto_function(struct cn_call_import *import, struct cn_bytes name);

/* Read a member of the arguments of an event, and the rest of its value. */
CN_CHECK bool cn_kineto_argument(struct cn_kineto_event *event,
                                 struct cn_json_reader *json,
                                 const struct cn_json_member *member,
                                 struct cn_error *err);

/* Read the rest of the array "deviceProperties". */
CN_CHECK bool cn_kineto_devices(struct cn_kineto *kineto, struct cn_json_reader *json,
                                struct cn_error *err);

/* Describe a device; false if there are too many. */
struct cn_gpu_device;
CN_CHECK bool cn_kineto_device(struct cn_kineto *kineto,
                               const struct cn_gpu_device *device, struct cn_error *err);

/* A complete event of a track, whose name is `name`, of the import. */
struct cn_kineto_span {
    uint64_t pid, tid; /* as in the file */
    uint32_t track, name;
    uint64_t begin_ns, duration_ns;
};
void cn_kineto_take(struct cn_kineto *kineto, const struct cn_kineto_event *event,
                    const struct cn_kineto_span *span);

/* True if an event is a call of its track. */
static inline bool cn_kineto_is_call(const struct cn_kineto_event *event)
{
    return event->category != CN_KINETO_SYNC && event->category != CN_KINETO_SPAN;
}

/* Give the import what was taken. */
void cn_kineto_finish(struct cn_kineto *kineto, struct cn_call_import *import);

/* Warn of operations without launches, and of clocks that differ. */
void cn_kineto_warn(struct cn_recording *rec);

#endif
