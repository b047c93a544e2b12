/* A recording of calls, of any format: per task, a stream of function entries, exits, events
 * and losses in the order of time.
 *
 * Tasks, sessions, modules and functions are in memory. Calls are read from a stream in
 * batches:
 *
 *     cn_recording_stream_open(rec, task, cn_time_always, &stream, err)
 *     while ((step = cn_call_stream_next(stream, &batch, err)) == CN_ITEM)
 *         for (size_t i = 0; i < batch.count; i++) ... batch.calls[i] ...
 *     cn_call_stream_close(stream);
 *
 * A stream over damaged data delivers everything before the damage and then fails. Other
 * tasks are not affected.
 *
 * Strings are borrowed and live as long as the recording.
 * Threads: immutable after open; any thread may open streams, each stream belongs to one
 * thread at a time.
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
#include "model/warning.h"

struct cn_progress;
struct cn_recording;
struct cn_call_stream;
struct cn_gpu_work;
struct cn_heap_event;
struct cn_heap_log;
struct cn_io_calls;
struct cn_text;

enum cn_call_kind { CN_CALL_ENTER, CN_CALL_EXIT, CN_CALL_LOST, CN_CALL_EVENT };

/* Bits of cn_call.flags. */
enum {
    CN_CALL_HAS_DATA = 1, /* arguments, a return value or event data are in the batch */
    CN_CALL_DATA_SKIPPED = 2, /* there were some, of unknown types */
    CN_CALL_KERNEL = 4,       /* a kernel function */
    CN_CALL_COVERED = 8,      /* an exit without data: covered_ns is set */
    CN_CALL_MOVED = 16,       /* an entry: its caller is in cn_recording.moved */
    CN_CALL_HAS_SELF = 32,    /* an exit without data: self_ns is set */
};

struct cn_call {
    uint64_t time_ns;  /* of a loss: 0 if unknown */
    uint64_t address;  /* of an event its id, of a loss the number of lost records */
    uint32_t function; /* CN_NONE if unknown, or not a call */
    uint16_t depth;    /* of an event of the kernel: 1 + its processor; 0 if unknown */
    uint8_t kind;      /* enum cn_call_kind */
    uint8_t flags;
    union {
        struct {
            uint32_t data_off, data_len; /* in the data of the batch, without padding */
        };
        uint64_t covered_ns; /* in which only calls ran that it made in other tasks */
        uint64_t self_ns;    /* its self time, whatever the calls inside of it take */
    };
};

/* Valid until the next call of cn_call_stream_next(). */
struct cn_call_batch {
    const struct cn_call *calls;
    size_t count; /* never 0 */
    struct cn_bytes data;
    /* Only in streams of a source: the tid of each record, and its bytes with payload. */
    const uint32_t *tids;
    const struct cn_bytes *raw;
    /* Where `calls` have corrected times: the same calls with recorded times. */
    const struct cn_call *recorded;
};

/* Records with first_ns <= time <= last_ns. */
struct cn_time_range {
    uint64_t first_ns, last_ns;
};
extern const struct cn_time_range cn_time_always;

/* A part of the records of a task, which can be read without those before it. All parts in
 * order deliver the same as the stream of the task. */
struct cn_call_part {
    uint64_t begin_ns, end_ns;   /* events of other files at these times belong to it */
    uint64_t begin_off, end_off; /* private to the format */
};

/* The type of an argument or return value. The data of a call contains its values in the
 * order of the specs, each padded to 4 bytes; strings ('s', 'S') follow their length in 16
 * bits. */
struct cn_argument_spec {
    char format;           /* one of d i u x o s c f S p e t; 't' is a struct */
    uint8_t index;         /* of the argument, from 1; 0 for a return value */
    bool is_float;         /* from a floating-point register */
    bool is_automatic;     /* not requested by name */
    uint16_t size;         /* bytes of the value; 0 for strings */
    const char *type_name; /* of an enum or struct; "" if anonymous */
    const struct cn_enum *enumeration; /* NULL: unknown, or not an enum */
    const char *text;                  /* option of the recorder: "arg1/s" */
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
    const char *path;                        /* as mapped; "[kernel]" for the kernel */
    const char *name;                        /* the last part of the path */
    const char *build_id;                    /* "" if unknown */
    uint32_t first_function, function_count; /* sorted by offset */
};

/* A symbol of a module, of code or data. */
struct cn_call_function {
    const char *name;     /* demangled by the options of opening */
    const char *raw_name; /* mangled */
    uint32_t module;
    char type;        /* of nm: T t w; P: a call into another module; K: kernel */
    uint64_t offset;  /* in the module */
    uint64_t size;    /* 0 if unknown */
    const char *file; /* "" if unknown */
    uint32_t line;
    struct cn_argument_specs arguments, result;
};

/* A module in the address space of a session. */
struct cn_mapping {
    uint64_t begin, end;
    uint64_t time_ns; /* of the dlopen; 0: from the start */
    uint32_t module;
    char protection[5]; /* "r-xp" */
};

/* A program in a process, from its start or exec on. */
struct cn_session {
    const char *sid;
    uint32_t pid;
    uint64_t time_ns;
    const char *exename;
    const struct cn_mapping *mappings; /* of the start by address, then of dlopen */
    size_t mapping_count;
};

struct cn_task_session {
    uint64_t from_ns; /* of the first session of a task: 0 */
    uint32_t session;
};

struct cn_task {
    uint32_t tid, pid;
    uint32_t parent;   /* index of the task that created it; CN_NONE if unknown */
    const char *name;  /* the last one */
    bool is_renamed;   /* events have its names */
    uint64_t time_ns;  /* of its start */
    bool has_first;    /* first_ns is known */
    uint64_t first_ns; /* of its first record, in an import its first call */
    uint64_t data_len; /* bytes of its records in the file */
    uint64_t heap_len; /* bytes of its records of memory; 0: none */
    bool has_session;  /* a program was started in it */
    bool is_fork;      /* created by fork, not by pthread_create or the recorder */
    bool has_file;     /* it has a file of records, which may be empty */
    bool is_stream; /* of a GPU: its calls are operations of the GPU work; or is_ranges */
    bool
        is_ranges; /* its calls are ranges that the program named, in `parent` or, CN_NONE,
                        * in any thread of the process */
    uint32_t ranges; /* the task with those that its call paths begin with; 0: none */
    const struct cn_task_session *sessions; /* in the order of time; none: no symbols */
    size_t session_count;
};

/* A file of records, for `cairn dump`. */
enum cn_source_kind {
    CN_SOURCE_TASK,
    CN_SOURCE_PERF,
    CN_SOURCE_EXTERN,
    CN_SOURCE_KERNEL
};
struct cn_source {
    const char *name; /* "1234.dat" */
    enum cn_source_kind kind;
    uint32_t task; /* CN_NONE if several tasks share it */
};

/* A fact about the run: "cpuinfo:desc", "ARM64 (v8)". */
struct cn_fact {
    const char *key, *value;
};

struct cn_event_name {
    uint64_t id;
    const char *name;
};

/* A file of the recording that writers copy. */
struct cn_copied_file {
    const char *name;
    struct cn_bytes bytes;
};

/* What leads from a call of one task to one of another, or of the same: a message, a task that
 * another thread runs, a span whose caller is elsewhere. It leaves the call at `from_depth`,
 * 1 for an outermost call, or the innermost one at that time (0), and arrives at the innermost one.
 * `to_ns` may be less than `from_ns` where clocks differ. */
struct cn_flow {
    uint32_t from_task, to_task;
    uint64_t from_ns, to_ns;
    uint32_t from_depth; /* 0: innermost */
    const char *name;    /* "" if it has none */
};

/* A path of calls: a function, and the path of its caller, which has a lower number; CN_NONE at the
 * outermost. */
struct cn_caller_path {
    uint32_t parent, function;
};

/* The caller of an outermost call of a task, in another task. */
struct cn_moved_call {
    uint32_t task, path;
    uint64_t time_ns; /* of its entry */
};

/* Flows, and ends of flows, that a recording has at most: readers drop the others and warn. */
enum { CN_FLOW_MAX = 1 << 20 };

/* Counters with names of their own, besides those of triggers (model/calls/values.h). */
enum { CN_NAMED_COUNTER_MAX = 4096 };

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
    CN_EVENT_COUNTER =
        3000000, /* and CN_NAMED_COUNTER_MAX ids from here; data: a double */
};

/* Bits of cn_recording.features, set by the recorder. */
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
    /* NULL: tasks have no parts. */
    size_t (*parts)(const struct cn_recording *rec, uint32_t task, uint64_t part_len,
                    struct cn_call_part **out);
    bool (*part_open)(const struct cn_recording *rec, uint32_t task,
                      const struct cn_call_part *part, struct cn_call_stream **out,
                      struct cn_error *err);
    /* NULL: there are no files of records. */
    bool (*source_open)(const struct cn_recording *rec, uint32_t source,
                        struct cn_call_stream **out, struct cn_error *err);
    enum cn_step (*stream_next)(struct cn_call_stream *stream, struct cn_call_batch *out,
                                struct cn_error *err);
    void (*stream_close)(struct cn_call_stream *stream);
    uint32_t (*find_function)(const struct cn_recording *rec, uint32_t task,
                              uint64_t time_ns, uint64_t address);
    /* Print the data of a kernel tracepoint; NULL: there are none. */
    bool (*print_tracepoint)(const struct cn_recording *rec, const struct cn_call *call,
                             struct cn_bytes data, struct cn_text *text);
    /* See cn_recording_prepare(); NULL: not needed. */
    bool (*prepare)(struct cn_recording *rec, unsigned workers,
                    const struct cn_progress *progress, struct cn_error *err);
    /* Begin to read what a task that has records of memory allocated and freed; the next of it
     * (model/memory/log.h). NULL: none has. */
    void (*heap_begin)(const struct cn_recording *rec, uint32_t task,
                       struct cn_heap_log *out);
    enum cn_step (*heap_next)(struct cn_heap_log *log, struct cn_heap_event *out,
                              struct cn_error *err);
    void (*close)(struct cn_recording *rec);
};

/* The time of the recorder for one call, and the time of it between entry and exit, which is
 * not more. Both 0 if unknown. */
struct cn_hook_cost {
    uint64_t call_ps, inner_ps;
};

struct cn_recording {
    const struct cn_recording_ops *ops;
    const char *path;                  /* "" in memory */
    const struct cn_task *tasks;       /* by tid */
    const struct cn_session *sessions; /* by time */
    const struct cn_call_module *modules;
    const struct cn_call_function *functions;
    const struct cn_source *sources;
    const struct cn_fact *facts; /* in the order of the file */
    const struct cn_event_name *event_names;
    const struct cn_copied_file *copied_files;
    const struct cn_flow *flows; /* in any order */
    const struct cn_caller_path *paths;
    const struct cn_moved_call *moved; /* by task, then by time */
    uint32_t task_count, session_count, module_count, function_count, source_count;
    uint32_t fact_count, event_name_count, copied_file_count, flow_count;
    uint32_t path_count, moved_count;
    uint64_t trace_count;          /* request traces that the calls are of; 0: none */
    const struct cn_gpu_work *gpu; /* of its tasks; NULL: none */
    /* System calls about files and sockets, by task and time; the profile is a task, contexts are
     * not known. Functions of the kernel in the streams of the tasks. NULL: none. */
    const struct cn_io_calls *io;
    bool has_heap;    /* memory was recorded: some tasks have records */
    uint32_t version; /* of the file format: 3 or 4 */
    uint16_t header_len, max_stack;
    bool is_big_endian, is_32_bit;
    struct cn_hook_cost call_cost, libcall_cost; /* of a function of type P */
    uint64_t left_out_ps; /* time of the recorder per call that its filters skipped */
    bool has_value_costs; /* calls with recorded arguments took longer */
    bool begins_off;      /* the outermost calls of tasks may have no entries */
    uint64_t features;    /* bits as above */
    uint64_t info_mask;   /* groups of facts that exist */
    const char *options;  /* for every view, as one command line ("-t 1us"); or "" */
    struct cn_warning *warnings;
    struct cn_arena arena; /* of everything above */
};

/* The first member of every stream. */
struct cn_call_stream {
    const struct cn_recording *rec;
    uint32_t task; /* CN_NONE: of a source shared by several tasks */
    bool is_whole; /* when it failed: every record was returned, but some are wrong */
};

static inline void cn_recording_close(struct cn_recording *rec) /* NULL is fine */
{
    if (rec)
        rec->ops->close(rec);
}

/* Make streams of a time range start fast: reads the whole recording once, unless the result
 * is cached. Call it before opening streams; 0 workers: one per processor. Fails only if
 * interrupted. */
CN_CHECK static inline bool cn_recording_prepare(struct cn_recording *rec,
                                                 unsigned workers,
                                                 const struct cn_progress *progress,
                                                 struct cn_error *err)
{
    return !rec->ops->prepare || rec->ops->prepare(rec, workers, progress, err);
}

/* The time of the first record of all tasks; 0 if there is none. */
uint64_t cn_recording_begin_ns(const struct cn_recording *rec);

/* The calls of a task, merged with its scheduling and other events by time. */
CN_CHECK bool cn_recording_stream_open(const struct cn_recording *rec, uint32_t task,
                                       struct cn_time_range range,
                                       struct cn_call_stream **out, struct cn_error *err);

/* The parts of a long task, to be released with free(), and their number; 0: the task has
 * no parts. `part_len`, more than 0, is the approximate number of bytes of records in
 * each. */
size_t cn_recording_parts(const struct cn_recording *rec, uint32_t task,
                          uint64_t part_len, struct cn_call_part **out);

/* Long enough that the cost of finding and joining parts does not matter. */
enum { CN_CALL_PART_LEN = 32 << 20 };
CN_CHECK static inline bool cn_recording_part_open(const struct cn_recording *rec,
                                                   uint32_t task,
                                                   const struct cn_call_part *part,
                                                   struct cn_call_stream **out,
                                                   struct cn_error *err)
{
    return rec->ops->part_open(rec, task, part, out, err);
}

/* The records of one file, in the order of the file. */
CN_CHECK bool cn_recording_source_open(const struct cn_recording *rec, uint32_t source,
                                       struct cn_call_stream **out, struct cn_error *err);

/* The next calls. After CN_FAIL or CN_END the stream can only be closed. */
CN_CHECK static inline enum cn_step cn_call_stream_next(struct cn_call_stream *stream,
                                                        struct cn_call_batch *out,
                                                        struct cn_error *err)
{
    return stream->rec->ops->stream_next(stream, out, err);
}

static inline void cn_call_stream_close(struct cn_call_stream *stream) /* NULL is fine */
{
    if (stream)
        stream->rec->ops->stream_close(stream);
}

/* The value of the first fact with this key, or NULL. */
const char *cn_recording_fact(const struct cn_recording *rec, const char *key);

/* The path of the caller of a call with CN_CALL_MOVED, or CN_NONE. */
uint32_t cn_recording_caller_of(const struct cn_recording *rec, uint32_t task,
                                uint64_t time_ns);

/* The task with this tid, or CN_NONE. */
uint32_t cn_recording_find_task(const struct cn_recording *rec, uint32_t tid);

/* The session of a task at a time, or NULL. */
const struct cn_session *cn_recording_session_at(const struct cn_recording *rec,
                                                 uint32_t task, uint64_t time_ns);

/* The mapping of a task that contains an address at a time, or NULL. */
const struct cn_mapping *cn_recording_mapping_at(const struct cn_recording *rec,
                                                 uint32_t task, uint64_t time_ns,
                                                 uint64_t address);

/* The function that contains an address, or CN_NONE. */
static inline uint32_t cn_recording_find_function(const struct cn_recording *rec,
                                                  uint32_t task, uint64_t time_ns,
                                                  uint64_t address)
{
    return rec->ops->find_function(rec, task, time_ns, address);
}

/* For formats: add a warning. */
CN_PRINTF(3, 4)
void cn_recording_warn(struct cn_recording *rec, bool is_damage, const char *fmt, ...);

/* The recorded time of a call of a batch. */
static inline uint64_t cn_call_recorded_ns(const struct cn_call_batch *batch,
                                           const struct cn_call *call)
{
    return batch->recorded ? batch->recorded[call - batch->calls].time_ns : call->time_ns;
}

/* Bytes of arguments, a return value or event data. */
static inline uint32_t cn_call_data_len(const struct cn_call *call)
{
    return call->flags & (CN_CALL_COVERED | CN_CALL_HAS_SELF) ? 0 : call->data_len;
}

static inline struct cn_bytes cn_call_data(const struct cn_call_batch *batch,
                                           const struct cn_call *call)
{
    struct cn_bytes data = {0};

    /* The stream has checked that it is inside. */
    if (!(call->flags & (CN_CALL_COVERED | CN_CALL_HAS_SELF)))
        (void)cn_bytes_slice(batch->data, call->data_off, call->data_len, &data);
    return data;
}

#endif
