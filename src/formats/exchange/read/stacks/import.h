/* Stacks with values, from the readers of sampled formats, made into a database in memory.
 *
 *     struct cn_import *import = cn_import_new("title", "description");
 *     cn_import_metric(import, "cycles", &metric, err)
 *     cn_import_thread(import, &identity, &thread, err)
 *     at = cn_import_call(import, at, cn_import_frame(import, &frame));  outermost first
 *     cn_import_add(import, thread, at, metric, 1000, err)
 *     cn_import_finish(import, &db, err)
 *
 * Equal frames below the same frame are one context; values of the same thread, context
 * and metric add up. Memory grows with distinct stacks, and with samples that have a
 * time. Strings are copied.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_STACKS_IMPORT_H
#define CN_FORMATS_EXCHANGE_READ_STACKS_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/file.h"
#include "model/contexts/context.h"

struct cn_database;
struct cn_gpu_work;
struct cn_import;
struct cn_origin;
struct cn_progress;
struct cn_heap_history;
struct cn_heap_use;
struct cn_io_calls;
struct cn_thread_runs;
struct cn_thread_states;
struct cn_waited_lock;
struct cn_lock_wait;
struct cn_wakeup;

enum {
    CN_IMPORT_METRIC_MAX = 128,
    CN_IMPORT_THREAD_MAX = 1 << 16,
    CN_IMPORT_DEPTH_MAX = 2048, /* frames of a stack; the rest is skipped */
    CN_IMPORT_NAME_MAX = 1 << 16,
    CN_IMPORT_KIND_MAX = 5,
};

/* The name of unknown functions. */
#define CN_IMPORT_UNKNOWN "[unknown]"

struct cn_import_frame {
    const char *name;     /* "": CN_IMPORT_UNKNOWN */
    const char *module;   /* "" if unknown */
    const char *build_id; /* of the module; NULL or "" if unknown */
    const char *file;     /* of the definition; "" if unknown */
    uint32_t line;
    uint64_t offset; /* of the function in its module */
    bool is_inlined;
};

/* The identity of a thread: "PROCESS" 12, "THREAD" 3. */
struct cn_import_identity {
    const char *kinds[CN_IMPORT_KIND_MAX]; /* NULL: unused */
    uint64_t numbers[CN_IMPORT_KIND_MAX];
    const char *name; /* tells apart threads with the same numbers; or "" */
};

struct cn_import *cn_import_new(const char *title, const char *description);
void cn_import_free(struct cn_import *import); /* NULL is fine */

/* The metric of this name, added if it is new. */
CN_CHECK bool cn_import_metric(struct cn_import *import, const char *name, uint32_t *out,
                               struct cn_error *err);

/* Say what a metric is, a constant. */
void cn_import_describe(struct cn_import *import, uint32_t metric,
                        const char *description);

CN_CHECK bool cn_import_thread(struct cn_import *import,
                               const struct cn_import_identity *identity, uint32_t *out,
                               struct cn_error *err);

/* Name a thread; the last name counts. */
void cn_import_name_thread(struct cn_import *import, uint32_t thread, const char *name);

/* The number of a frame, added if it is new. */
uint32_t cn_import_frame(struct cn_import *import, const struct cn_import_frame *frame);

/* The same for a loop, whose contexts are in a function and contain calls and lines. */
uint32_t cn_import_loop(struct cn_import *import, const char *file, uint32_t line);

/* The context of stacks that begin like this, as a parent of calls. */
uint32_t cn_import_entry(struct cn_import *import, enum cn_entry entry);

/* The context of a call, or of a loop, in `parent`; 0 is the top: how the stack began is unknown. */
uint32_t cn_import_call(struct cn_import *import, uint32_t parent, uint32_t frame);

/* The context of costs whose function is unknown. */
uint32_t cn_import_unknown(struct cn_import *import);

/* The context of a line in the function `parent`. */
uint32_t cn_import_line(struct cn_import *import, uint32_t parent, const char *file,
                        uint32_t line);

CN_CHECK bool cn_import_add(struct cn_import *import, uint32_t thread, uint32_t context,
                            uint32_t metric, double value, struct cn_error *err);

/* The number of an instruction of a module in a context. */
uint32_t cn_import_point(struct cn_import *import, uint32_t context, const char *module,
                         const char *build_id, uint64_t offset);

/* Add a value that was also added to the context of an instruction. */
void cn_import_add_point(struct cn_import *import, uint32_t thread, uint32_t point,
                         uint32_t metric, double value);

/* A sample of the timeline, in any order. */
void cn_import_sample(struct cn_import *import, uint32_t thread, uint64_t time_ns,
                      uint32_t context);

/* The thread is in this context from this time until its next sample, though none was taken. */
void cn_import_resume(struct cn_import *import, uint32_t thread, uint64_t time_ns,
                      uint32_t context);

/* The thread waits from this time until its next sample. */
void cn_import_wait(struct cn_import *import, uint32_t thread, uint64_t time_ns);

/* The states of the thread over time. Takes the list, and leaves an empty one. */
void cn_import_states(struct cn_import *import, uint32_t thread,
                      struct cn_thread_states *states);

/* On which processors the thread ran. Takes the list, and leaves an empty one. */
void cn_import_runs(struct cn_import *import, uint32_t thread,
                    struct cn_thread_runs *runs);

/* A thread was made ready to run; `from` and `to` are threads of the import, `from` CN_NONE: none. */
void cn_import_wakeup(struct cn_import *import, const struct cn_wakeup *wakeup);

/* A lock; its number is for cn_import_lock_wait(). The name is copied. */
uint32_t cn_import_lock(struct cn_import *import, const struct cn_waited_lock *lock);

/* `wait->profile` is a thread of the import. */
void cn_import_lock_wait(struct cn_import *import, const struct cn_lock_wait *wait);

/* What was live over time becomes part of the database. The caller completes it: times since the epoch,
 * profiles (1 + thread) and contexts. It lives as long as the import. */
struct cn_heap_history *cn_import_heap(struct cn_import *import, struct cn_heap_use *use);

/* The system calls become part of the database. Profiles are 1 + thread; the lists are copied. */
void cn_import_io(struct cn_import *import, const struct cn_io_calls *calls);

/* What was live of the memory of GPUs over time becomes part of the database. Threads and places of the
 * work are those of the import; `epoch_ns` is to be added to its times. */
void cn_import_gpu_memory(struct cn_import *import, const struct cn_gpu_work *work,
                          uint64_t epoch_ns);

/* The thread is sampled at least every `tick_ns` of its processor time; the longest counts. Where
 * two samples are more than twice as far apart, its timeline has waiting after the first tick. */
void cn_import_tick(struct cn_import *import, uint32_t thread, uint64_t tick_ns);

/* Add a warning to the database; `is_damage` if part of the file could not be read. */
/* A call of a thread started an operation of another one, a stream of a GPU. Those after the first
 * million are left out. */
void cn_import_launch(struct cn_import *import, uint32_t from_thread, uint64_t from_ns,
                      uint32_t to_thread, uint64_t to_ns);

CN_PRINTF(3, 4)
void cn_import_warn(struct cn_import *import, bool is_damage, const char *fmt, ...);

/* Where the data comes from, of the first of several files. Texts are copied. */
void cn_import_origin(struct cn_import *import, const struct cn_origin *origin);

/* Report that the model cannot represent `count` of something, a constant, which conversions list;
 * the writer of the format `copied_as`, if given, copies the file. */
void cn_import_lose(struct cn_import *import, const char *what, uint64_t count);
void cn_import_copied_as(struct cn_import *import, const char *copied_as);

/* Make the database, which the caller closes. Releases the import, also on failure. */
CN_CHECK bool cn_import_finish(struct cn_import *import, struct cn_database **out,
                               struct cn_error *err);

/* Open a file, compressed or not, with `read`. Errors name the path. */
typedef bool (*cn_import_fn)(struct cn_import *import, struct cn_bytes bytes,
                             struct cn_error *err);
CN_CHECK bool cn_import_database(struct cn_database **out, const char *path,
                                 const char *description, cn_import_fn read,
                                 struct cn_error *err);

/* The same with progress, which may be NULL. */
CN_CHECK bool cn_import_samples(struct cn_database **out, const char *path,
                                const char *description, cn_import_fn read,
                                const struct cn_progress *progress, struct cn_error *err);

/* What is imported reports to this progress, which may be NULL. */
void cn_import_set_progress(struct cn_import *import, const struct cn_progress *progress);

/* Report how much is read; fails if the reader is to stop. Cheap: it reports now and then. */
CN_CHECK bool cn_import_report(struct cn_import *import, uint64_t done, uint64_t total,
                               const char *unit, struct cn_error *err);

/* True if the beginning of a file, unpacked, satisfies `looks_right`. */
typedef bool (*cn_import_look_fn)(struct cn_bytes beginning, bool is_whole);
bool cn_import_probe(const char *path, cn_import_look_fn looks_right);

/* The text as a string, up to a NUL. Valid until the next call. */
const char *cn_import_str(struct cn_import *import, struct cn_bytes text);

#endif
