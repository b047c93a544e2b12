/* A recording built in memory, for imports, tests and demos.
 *
 *     m = cn_memory_recording_new();
 *     ... cn_memory_recording_add_*() ...
 *     rec = cn_memory_recording_finish(m);
 *     ... any reader of model/calls/recording.h ...
 *     cn_recording_close(rec);
 *
 * Strings, specs and data are copied. Add the functions of a module in the order of
 * their offsets, mappings in the order of their addresses and then of loading, calls in the order
 * of time. Indices must be results of earlier calls: anything else is an assertion.
 * cn_recording_close() on the finished recording and cn_memory_recording_free() do the same.
 * Threads: one thread builds it; once finished it is immutable.
 */
#ifndef CN_MODEL_CALLS_RECORDING_MEMORY_H
#define CN_MODEL_CALLS_RECORDING_MEMORY_H

#include "model/calls/recording.h"

struct cn_memory_recording;

struct cn_memory_recording *cn_memory_recording_new(void);
void cn_memory_recording_free(struct cn_memory_recording *m); /* NULL is fine */

/* Tables. Each function returns the index of the new element; cn_memory_recording_finish()
 * numbers functions again if those of a module were not added next to each other. */
uint32_t cn_memory_recording_add_module(struct cn_memory_recording *m, const char *path,
                                        const char *build_id);
uint32_t cn_memory_recording_add_function(struct cn_memory_recording *m,
                                          struct cn_call_function function);
uint32_t cn_memory_recording_add_session(struct cn_memory_recording *m, const char *sid,
                                         uint32_t pid, uint64_t time_ns,
                                         const char *exename);
void cn_memory_recording_add_mapping(struct cn_memory_recording *m, uint32_t session,
                                     struct cn_mapping mapping);

/* In ascending order of tids; `sessions` of the task is ignored. */
uint32_t cn_memory_recording_add_task(struct cn_memory_recording *m, struct cn_task task);
void cn_memory_recording_add_task_session(struct cn_memory_recording *m, uint32_t task,
                                          uint64_t from_ns, uint32_t session);

void cn_memory_recording_add_fact(struct cn_memory_recording *m, const char *key,
                                  const char *value);
void cn_memory_recording_add_event_name(struct cn_memory_recording *m, uint64_t id,
                                        const char *name);
void cn_memory_recording_set_big_endian(struct cn_memory_recording *m);

/* `data` is empty unless call.flags has CN_CALL_HAS_DATA. Sets data_off and data_len,
 * unless it has CN_CALL_COVERED or CN_CALL_HAS_SELF. */
void cn_memory_recording_add_call(struct cn_memory_recording *m, uint32_t task,
                                  struct cn_call call, struct cn_bytes data);

/* False, and nothing is added, after CN_FLOW_MAX others. */
bool cn_memory_recording_add_flow(struct cn_memory_recording *m, struct cn_flow flow);

/* A path of calls, and a call whose caller is in another task. */
uint32_t cn_memory_recording_add_path(struct cn_memory_recording *m,
                                      struct cn_caller_path path);
void cn_memory_recording_add_moved(struct cn_memory_recording *m,
                                   struct cn_moved_call call);

/* Return the recording. Nothing can be added afterwards. */
struct cn_recording *cn_memory_recording_finish(struct cn_memory_recording *m);

#endif
