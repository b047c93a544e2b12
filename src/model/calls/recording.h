/* What a recording of calls is, whatever format holds it: per task, a stream of
 * function entries, exits, events and losses in the order of time.
 *
 * Tasks, sessions, modules and functions are in memory. The calls, which are what
 * grows, are pulled from a stream in batches:
 *
 *     cn_recording_stream_open(rec, task, cn_time_always, &stream, err)
 *     while ((step = cn_call_stream_next(stream, &batch, err)) == CN_ITEM)
 *         for (size_t i = 0; i < batch.count; i++) ... batch.calls[i] ...
 *     cn_call_stream_close(stream);
 *
 * A stream over damaged data delivers everything before the damage and then fails.
 * Other tasks are not affected.
 *
 * Strings that a recording returns are borrowed and live as long as it.
 * Threads: immutable after open; any thread may open streams, each stream belongs to
 * one thread at a time.
 */
#ifndef CN_MODEL_CALLS_RECORDING_H
#define CN_MODEL_CALLS_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"
#include "model/contexts/context.h"
#include "model/step.h"

struct cn_progress;
struct cn_recording;
struct cn_call_stream;
struct cn_text;

enum cn_call_kind { CN_CALL_ENTER, CN_CALL_EXIT, CN_CALL_LOST, CN_CALL_EVENT };

/* Bits of cn_call.flags. */
enum {
    CN_CALL_HAS_DATA = 1, /* arguments, a return value or event data are in the batch */
    CN_CALL_DATA_SKIPPED = 2, /* there were some, but nothing says how to read them */
    CN_CALL_KERNEL = 4,       /* a kernel function */
};

struct cn_call {
    uint64_t time_ns; /* of a loss: 0 when the recorder did not say */
    uint64_t address; /* as recorded; of an event its id, of a loss how many were lost */
    uint32_t
        function; /* in the recording's functions; CN_NONE when unknown, or no call */
    uint16_t depth;
    uint8_t kind; /* enum cn_call_kind */
    uint8_t flags;
    uint32_t data_off, data_len; /* in the batch's data; padding is not counted */
};

/* Borrowed until the next call to the stream. */
struct cn_call_batch {
    const struct cn_call *calls;
    size_t count; /* never 0 */
    struct cn_bytes data;
    /* Only in streams of a source: whose record it is, and its bytes with payload. */
    const uint32_t *tids;
    const struct cn_bytes *raw;
};

/* Records with first_ns <= time <= last_ns. */
struct cn_time_range {
    uint64_t first_ns, last_ns;
};
extern const struct cn_time_range cn_time_always;

/* A piece of a task's records that can be read without those before it. One after
 * another, pieces deliver what the task's stream does. */
struct cn_call_part {
    uint64_t begin_ns, end_ns;   /* events from elsewhere at these times belong to it */
    uint64_t begin_off, end_off; /* the format's business */
};

/* How one argument or return value is stored and shown. Values lie in the data of a
 * call one after another, in the order of the specs, each padded to 4 bytes; strings
 * ('s', 'S') are preceded by their length in 16 bits. */
struct cn_argument_spec {
    char format;           /* one of d i u x o s c f S p e t; 't' is a struct */
    uint8_t index;         /* of the argument, from 1; 0 for a return value */
    bool is_float;         /* taken from a floating-point register */
    bool is_automatic;     /* described by debug information */
    uint16_t size;         /* bytes of the value; 0 for strings */
    const char *type_name; /* of an enum or struct; "" when anonymous */
    const struct cn_enum *enumeration; /* NULL: unknown, or no enum */
    const char *text;                  /* as the recorder was told: "arg1/s" */
};

struct cn_argument_specs {
    const struct cn_argument_spec *list;
    size_t count;
};

struct cn_enum {
    const char *name;
    const struct cn_enum_member {
        const char *name;
        int64_t value;
    } * members; /* in the order of their values */
    size_t count;
};

struct cn_call_module {
    const char *path;     /* as mapped; "[kernel]" for the kernel */
    const char *name;     /* the last part of the path */
    const char *build_id; /* "" when unknown */
    uint32_t first_function,
        function_count; /* its functions are consecutive, by offset */
};

/* Every symbol of every module has an entry, data included. */
struct cn_call_function {
    const char *name;     /* demangled as asked for when opening */
    const char *raw_name; /* as the linker knows it */
    uint32_t module;
    char type; /* as nm prints it: T t w; P is a call into another module; K kernel */
    uint64_t offset;  /* in the module */
    uint64_t size;    /* 0 when unknown */
    const char *file; /* "" when unknown */
    uint32_t line;
    struct cn_argument_specs arguments, result;
};

/* Where a module lies in a session. */
struct cn_mapping {
    uint64_t begin, end;
    uint64_t time_ns; /* of the dlopen; 0: from the start */
    uint32_t module;
    char protection[5]; /* "r-xp" */
};

/* One program in one process, from its start or exec on. */
struct cn_session {
    const char *sid;
    uint32_t pid;
    uint64_t time_ns;
    const char *exename;
    const struct cn_mapping *mappings; /* those from the start by address, then dlopens */
    size_t mapping_count;
};

struct cn_task_session {
    uint64_t from_ns; /* the first of a task counts from 0 */
    uint32_t session;
};

struct cn_task {
    uint32_t tid, pid;
    uint32_t parent;   /* index of the task that created it; CN_NONE when unknown */
    const char *name;  /* as last set */
    uint64_t time_ns;  /* of its start */
    uint64_t first_ns; /* of its first record; 0 when it has none */
    uint64_t data_len; /* bytes of its records as stored */
    bool has_session;  /* a program was started in it */
    bool is_fork;      /* created by fork, not by pthread_create or the recorder */
    bool has_file;     /* its records exist, if only as an empty file */
    const struct cn_task_session *sessions; /* in the order of time; none: no symbols */
    size_t session_count;
};

/* A file of records, read in the order of the file: what `cairn dump` shows. */
enum cn_source_kind {
    CN_SOURCE_TASK,
    CN_SOURCE_PERF,
    CN_SOURCE_EXTERN,
    CN_SOURCE_KERNEL
};
struct cn_source {
    const char *name; /* "1234.dat" */
    enum cn_source_kind kind;
    uint32_t task; /* CN_NONE when several tasks share it */
};

/* One line of what is known about the run: "cpuinfo:desc", "ARM64 (v8)". */
struct cn_fact {
    const char *key, *value;
};

struct cn_event_name {
    uint64_t id;
    const char *name;
};

/* A file of the recording that is kept as it is, whatever happens to the calls. */
struct cn_kept_file {
    const char *name;
    struct cn_bytes bytes;
};

/* Event ids. Below 100000: kernel tracepoints; from 1000000: user events. */
enum {
    CN_EVENT_READ_STATM = 100001,
    CN_EVENT_READ_PAGE_FAULT = 100002,
    CN_EVENT_DIFF_STATM = 100003,
    CN_EVENT_DIFF_PAGE_FAULT = 100004,
    CN_EVENT_READ_CYCLE = 100005,
    CN_EVENT_DIFF_CYCLE = 100006,
    CN_EVENT_READ_CACHE = 100007,
    CN_EVENT_DIFF_CACHE = 100008,
    CN_EVENT_READ_BRANCH = 100009,
    CN_EVENT_DIFF_BRANCH = 100010,
    CN_EVENT_WATCH_CPU = 100011,
    CN_EVENT_WATCH_VAR = 100012,
    CN_EVENT_CALLSITE = 100013,
    CN_EVENT_SCHED_IN = 200001,
    CN_EVENT_SCHED_OUT = 200002,
    CN_EVENT_SCHED_BOTH = 200003,
    CN_EVENT_TASK_NEW = 200004,
    CN_EVENT_TASK_EXIT = 200005,
    CN_EVENT_TASK_NAME = 200006, /* data: the new name */
    CN_EVENT_SCHED_OUT_PREEMPT = 200007,
    CN_EVENT_SCHED_BOTH_PREEMPT = 200008,
    CN_EVENT_USER = 1000000,
    CN_EVENT_EXTERN = 2000000, /* data: the text */
};

/* Bits of cn_recording.features, as the recorder wrote them. */
enum {
    CN_FEATURE_PLTHOOK = 1 << 0,
    CN_FEATURE_TASK_SESSION = 1 << 1,
    CN_FEATURE_KERNEL = 1 << 2,
    CN_FEATURE_ARGUMENT = 1 << 3,
    CN_FEATURE_RETVAL = 1 << 4,
    CN_FEATURE_SYM_REL_ADDR = 1 << 5,
    CN_FEATURE_MAX_STACK = 1 << 6,
    CN_FEATURE_EVENT = 1 << 7,
    CN_FEATURE_PERF_EVENT = 1 << 8,
    CN_FEATURE_AUTO_ARGS = 1 << 9,
    CN_FEATURE_DEBUG_INFO = 1 << 10,
    CN_FEATURE_ESTIMATE_RETURN = 1 << 11,
    CN_FEATURE_SYM_SIZE = 1 << 12,
    CN_FEATURE_CALLSITE = 1 << 13,
};

struct cn_recording_ops {
    bool (*stream_open)(const struct cn_recording *rec, uint32_t task,
                        struct cn_time_range range, struct cn_call_stream **out,
                        struct cn_error *err);
    /* NULL when tasks can only be read in one piece. */
    size_t (*parts)(const struct cn_recording *rec, uint32_t task, uint64_t part_len,
                    struct cn_call_part **out);
    bool (*part_open)(const struct cn_recording *rec, uint32_t task,
                      const struct cn_call_part *part, struct cn_call_stream **out,
                      struct cn_error *err);
    /* NULL when the records of the recording have no bytes of their own. */
    bool (*source_open)(const struct cn_recording *rec, uint32_t source,
                        struct cn_call_stream **out, struct cn_error *err);
    enum cn_step (*stream_next)(struct cn_call_stream *stream, struct cn_call_batch *out,
                                struct cn_error *err);
    void (*stream_close)(struct cn_call_stream *stream);
    uint32_t (*find_function)(const struct cn_recording *rec, uint32_t task,
                              uint64_t time_ns, uint64_t address);
    /* The text of a kernel tracepoint's data; NULL: there are no such events. */
    bool (*print_tracepoint)(const struct cn_recording *rec, const struct cn_call *call,
                             struct cn_bytes data, struct cn_text *text);
    /* Get ready for time ranges; NULL: it is. */
    bool (*prepare)(struct cn_recording *rec, unsigned workers,
                    const struct cn_progress *progress, struct cn_error *err);
    void (*close)(struct cn_recording *rec);
};

/* What the recorder took for one call: all of it, and the part between the times of its
 * entry and its exit, which is not more. Both 0 when unknown. */
struct cn_hook_cost {
    uint64_t call_ps, inner_ps;
};

/* Something odd that opening could do with. */
struct cn_recording_warning {
    struct cn_recording_warning *next;
    const char *text;
    bool is_damage; /* part of the data cannot be read: commands end with status 3 */
};

struct cn_recording {
    const struct cn_recording_ops *ops;
    const char *path;                  /* "" for one that lives in memory */
    const struct cn_task *tasks;       /* by tid */
    const struct cn_session *sessions; /* by time */
    const struct cn_call_module *modules;
    const struct cn_call_function *functions;
    const struct cn_source *sources;
    const struct cn_fact *facts; /* in the order of the file */
    const struct cn_event_name *event_names;
    const struct cn_kept_file *kept_files;
    uint32_t task_count, session_count, module_count, function_count, source_count;
    uint32_t fact_count, event_name_count, kept_file_count;
    uint32_t version; /* of the file format: 3 or 4 */
    uint16_t header_len, max_stack;
    bool is_big_endian, is_32_bit;
    struct cn_hook_cost call_cost, libcall_cost; /* of a function of type P */
    /* What the recorder took, besides, for each call that its filters left out; and
     * whether it took more for some calls, whose arguments it recorded. */
    uint64_t left_out_ps;
    bool has_value_costs;
    uint64_t features;  /* bits as above */
    uint64_t info_mask; /* which groups of facts there are */
    const char
        *options; /* for every view, as one command line ("-t 1us"); "" when none */
    struct cn_recording_warning *warnings; /* in the order in which they were found */
    struct cn_arena arena;                 /* of everything above */
};

/* What every stream begins with. */
struct cn_call_stream {
    const struct cn_recording *rec;
    uint32_t task; /* CN_NONE: of a source shared by several tasks */
};

void cn_recording_close(struct cn_recording *rec); /* NULL is fine */

/* Make streams of a time range start fast, however long the recording: reads it
 * through once, unless that was done before and kept. To be called before streams
 * are opened; 0 workers: as many as there are processors. Fails only when
 * interrupted. */
CN_CHECK bool cn_recording_prepare(struct cn_recording *rec, unsigned workers,
                                   const struct cn_progress *progress,
                                   struct cn_error *err);

/* The calls of one task, its scheduling and other events merged in by time. */
CN_CHECK bool cn_recording_stream_open(const struct cn_recording *rec, uint32_t task,
                                       struct cn_time_range range,
                                       struct cn_call_stream **out, struct cn_error *err);

/* The pieces of a task that is long enough to have some, to be released with free();
 * returns how many. 0: it is to be read in one piece. `part_len` is about how many bytes of
 * records each has, more than 0. */
size_t cn_recording_parts(const struct cn_recording *rec, uint32_t task,
                          uint64_t part_len, struct cn_call_part **out);

/* So long that finding pieces and putting together what is known of them costs nothing. */
enum { CN_CALL_PART_LEN = 32 << 20 };
CN_CHECK bool cn_recording_part_open(const struct cn_recording *rec, uint32_t task,
                                     const struct cn_call_part *part,
                                     struct cn_call_stream **out, struct cn_error *err);

/* When the last record of a task was made, as far as it can be read; 0: it has none. Reads
 * its last piece. */
uint64_t cn_recording_last_ns(const struct cn_recording *rec, uint32_t task);

/* The records of one file in file order, nothing merged. */
CN_CHECK bool cn_recording_source_open(const struct cn_recording *rec, uint32_t source,
                                       struct cn_call_stream **out, struct cn_error *err);

/* The next calls. After CN_FAIL or CN_END the stream can only be closed. */
CN_CHECK enum cn_step cn_call_stream_next(struct cn_call_stream *stream,
                                          struct cn_call_batch *out,
                                          struct cn_error *err);
void cn_call_stream_close(struct cn_call_stream *stream); /* NULL is fine */

/* The value of the first fact with this key; NULL when there is none. */
const char *cn_recording_fact(const struct cn_recording *rec, const char *key);

/* The task with this tid; CN_NONE when there is none. */
uint32_t cn_recording_find_task(const struct cn_recording *rec, uint32_t tid);

/* The session that a task runs in at a time; NULL when it has none. */
const struct cn_session *cn_recording_session_at(const struct cn_recording *rec,
                                                 uint32_t task, uint64_t time_ns);

/* The function around an address; CN_NONE when it lies in none. */
uint32_t cn_recording_find_function(const struct cn_recording *rec, uint32_t task,
                                    uint64_t time_ns, uint64_t address);

/* For formats: remember something worth telling the user once. */
CN_PRINTF(3, 4)
void cn_recording_warn(struct cn_recording *rec, bool is_damage, const char *fmt, ...);

static inline struct cn_bytes cn_call_data(const struct cn_call_batch *batch,
                                           const struct cn_call *call)
{
    struct cn_bytes data = {0};

    /* The stream made sure that it is inside. */
    (void)cn_bytes_slice(batch->data, call->data_off, call->data_len, &data);
    return data;
}

#endif
