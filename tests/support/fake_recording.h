/* A recording made of arrays, for tests of what looks at recordings: functions by
 * name, tasks by their calls, handed out in small batches.
 *
 * Functions are numbered as they were named; all are of type T and 64 bytes long.
 * Task `i` has the tid and pid 100 + i and runs in the only session.
 * Threads: one thread at a time builds it; streams as of any recording.
 */
#ifndef CN_TEST_FAKE_RECORDING_H
#define CN_TEST_FAKE_RECORDING_H

#include "model/calls/recording.h"

enum { CN_FAKE_TASKS_MAX = 80, CN_FAKE_FUNCTIONS_MAX = 16 };

struct cn_fake_task {
    const struct cn_call *calls;
    size_t count;
    bool is_damaged;    /* after the last call */
    bool is_disordered; /* every stream returns all calls and fails then */
};

struct cn_fake_recording {
    struct cn_recording rec; /* first */
    struct cn_fake_task fake_tasks[CN_FAKE_TASKS_MAX];
    struct cn_task tasks[CN_FAKE_TASKS_MAX];
    struct cn_task_session task_sessions[1];
    struct cn_session sessions[1];
    struct cn_call_module modules[1];
    struct cn_call_function functions[CN_FAKE_FUNCTIONS_MAX];
    size_t batch_len; /* calls in a batch */
};

/* `names` ends with NULL. */
void cn_fake_recording_init(struct cn_fake_recording *fake, const char *const *names);
void cn_fake_recording_add(struct cn_fake_recording *fake, const struct cn_call *calls,
                           size_t count);

/* Calls as tests write them. */
#define CN_FAKE_ENTER(time, id, at_depth)                                             \
    {                                                                                 \
        .time_ns = (time), .address = 0x1000 + UINT64_C(64) * (id), .function = (id), \
        .depth = (at_depth), .kind = CN_CALL_ENTER                                    \
    }
#define CN_FAKE_EXIT(time, id, at_depth)                                              \
    {                                                                                 \
        .time_ns = (time), .address = 0x1000 + UINT64_C(64) * (id), .function = (id), \
        .depth = (at_depth), .kind = CN_CALL_EXIT                                     \
    }
#define CN_FAKE_EVENT(time, id)                                                        \
    {                                                                                  \
        .time_ns = (time), .address = (id), .function = CN_NONE, .kind = CN_CALL_EVENT \
    }
#define CN_FAKE_LOST(how_many)                                           \
    {                                                                    \
        .address = (how_many), .function = CN_NONE, .kind = CN_CALL_LOST \
    }

#endif
