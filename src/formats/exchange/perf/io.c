#include "formats/exchange/perf/io.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"
#include "formats/exchange/perf/address_space.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/io/calls.h"

/* The fields of both tracepoints after the 8 bytes that all begin with. */
enum {
    NUMBER_OFF = 8,
    ARGUMENTS_OFF = 16,
    ENTER_LEN = 64,
    RESULT_OFF = 16,
    EXIT_LEN = 24,
    FORK_LEN = 16,
    AT_WORKING_DIRECTORY = -100,
    F_COPIES = 0, /* commands of fcntl() */
    F_SETS_FLAGS = 2,
    F_COPIES_CLOSED = 1030,
    ARGUMENTS_MAX = 6,
    DISK_OFF = 8, /* of requests of disks and of their completions */
    SECTOR_OFF = 16,
    BYTES_OFF = 28, /* of requests */
    LETTERS_OFF = 34,
    REQUEST_LEN = 44,
    LISTENER_LEN_MAX = 256, /* of the name of a listener in that of its connections */
};

/* In the place of the name of a descriptor that is not known. */
#define UNKNOWN_DESCRIPTOR "[unknown descriptor]"
#define KERNEL             "[kernel.kallsyms]"

struct cn_perf_io_call {
    struct cn_io_call call; /* times of the file's clock; the target is a name */
    uint32_t opening;       /* whose name is the target; 0: none */
    uint32_t
        before; /* of a request for a page: another one for the same, as in struct cn_perf_io_thread */
};

/* The call that a thread is in. */
struct cn_perf_io_thread {
    uint64_t arguments[ARGUMENTS_MAX];
    uint64_t begin_ns;
    uint32_t pid, thread, context, opening;
    uint32_t name;     /* of the path; CN_NONE: unknown */
    uint32_t page;     /* name of the file of a page that a disk is asked for; CN_NONE */
    uint32_t request;  /* 1 + the last request outside of calls: for a page; 0: none */
    uint16_t call;     /* CN_SYSTEM_CALL_NONE: the thread is in none */
    const char *path;  /* an argument that was recorded, maybe before the call; or NULL */
    int32_t directory; /* that it begins at */
};

static enum cn_perf_io_kind kind_of_tracepoint(const struct cn_perf_event *event)
{
    if (!(event->attr.sample_type & CN_PERF_HAS_RAW))
        return CN_PERF_NOT_IO;
    return strcmp(event->name, "raw_syscalls:sys_enter") == 0    ? CN_PERF_IO_ENTER
           : strcmp(event->name, "raw_syscalls:sys_exit") == 0   ? CN_PERF_IO_EXIT
           : strcmp(event->name, "block:block_rq_issue") == 0    ? CN_PERF_IO_REQUEST
           : strcmp(event->name, "block:block_rq_complete") == 0 ? CN_PERF_IO_COMPLETE
                                                                 : CN_PERF_NOT_IO;
}

/* perf records page faults with addresses as well: without system calls, they are an event as others. */
static bool has_calls(const struct cn_perf_file *file)
{
    for (uint32_t i = 0; i < file->event_count; i++)
        if (kind_of_tracepoint(&file->events[i]) == CN_PERF_IO_ENTER)
            return true;
    return false;
}

enum cn_perf_io_kind cn_perf_io_of(const struct cn_perf_file *file, uint32_t event)
{
    const struct cn_perf_attr *attr = &file->events[event].attr;
    bool is_minor = attr->config == CN_PERF_SOFTWARE_MINOR_FAULTS;

    if (attr->type != CN_PERF_TYPE_SOFTWARE || !(attr->sample_type & CN_PERF_HAS_ADDR) ||
        !has_calls(file) || (!is_minor && attr->config != CN_PERF_SOFTWARE_MAJOR_FAULTS))
        return kind_of_tracepoint(&file->events[event]);
    return is_minor ? CN_PERF_IO_MINOR : CN_PERF_IO_MAJOR;
}

void cn_perf_io_init(struct cn_perf_io *io, struct cn_import *import,
                     const struct cn_perf_file *file, struct cn_perf_spaces *spaces)
{
    const char *machine = file->origin.machine;

    *io = (struct cn_perf_io){
        .import = import, .spaces = spaces, .epoch_ns = file->epoch_ns};
    for (uint32_t i = 0; i < file->event_count; i++) {
        enum cn_perf_io_kind kind = cn_perf_io_of(file, i);

        io->is_used = io->is_used || kind != CN_PERF_NOT_IO;
    }
    io->minor = cn_system_call_named(CN_IO_MINOR_NAME);
    io->major = cn_system_call_named(CN_IO_MAJOR_NAME);
    cn_system_numbers_init(&io->numbers, cn_system_machine_named(machine ? machine : ""));
}

void cn_perf_io_done(struct cn_perf_io *io)
{
    cn_perf_descriptors_done(&io->descriptors);
    cn_map_done(&io->thread_of);
    cn_perf_gaps_done(&io->gaps);
    cn_map_done(&io->request_of);
    free(io->threads);
    free(io->calls);
}

static struct cn_perf_io_thread *thread_at(struct cn_perf_io *io, uint32_t tid)
{
    uint32_t at = *cn_map_at(&io->thread_of, tid, (uint32_t)io->thread_count);

    if (at == io->thread_count) {
        CN_PUSH(io->threads, io->thread_count, io->thread_capacity,
                (struct cn_perf_io_thread){.call = CN_SYSTEM_CALL_NONE, .page = CN_NONE});
    }
    return &io->threads[at];
}

static uint16_t call_of(const struct cn_perf_io *io, const struct cn_perf_sample *sample)
{
    return sample->raw.len < EXIT_LEN
               ? CN_SYSTEM_CALL_NONE
               : cn_system_call_find(&io->numbers,
                                     cn_u64_get(sample->raw.ptr + NUMBER_OFF));
}

static bool is_shown(uint16_t call)
{
    return call != CN_SYSTEM_CALL_NONE && cn_system_call(call)->kind != CN_IO_HIDDEN;
}

bool cn_perf_io_is_shown(const struct cn_perf_io *io, enum cn_perf_io_kind kind,
                         const struct cn_perf_sample *sample)
{
    return kind == CN_PERF_IO_REQUEST || kind == CN_PERF_IO_MINOR ||
           kind == CN_PERF_IO_MAJOR ||
           (kind == CN_PERF_IO_ENTER && is_shown(call_of(io, sample)));
}

/* Add the call that a thread was in. */
static void add_call(struct cn_perf_io *io, const struct cn_perf_io_thread *thread,
                     uint64_t end_ns, int64_t result)
{
    const struct cn_system_call *call = cn_system_call(thread->call);
    struct cn_perf_io_call added = {
        .call = {.begin_ns = thread->begin_ns,
                 .end_ns = end_ns,
                 .result = result,
                 .profile = thread->thread,
                 .caller = thread->context,
                 .target = thread->name,
                 .descriptor = call->descriptor >= 0
                                   ? (int32_t)thread->arguments[call->descriptor]
                                   : -1,
                 .call = thread->call},
        .opening = thread->opening,
    };

    CN_PUSH(io->calls, io->call_count, io->call_capacity, added);
}

/* Its end is missing. A path may be that of this call, or of the next one. */
static void abandon(struct cn_perf_io *io, struct cn_perf_io_thread *thread)
{
    if (thread->call == CN_SYSTEM_CALL_NONE)
        return;
    if (is_shown(thread->call))
        add_call(io, thread, 0, 0);
    thread->call = CN_SYSTEM_CALL_NONE;
    thread->path = NULL;
}

/* The name of an address: of the peer, of the descriptor itself, or of who has connected to it. */
static uint32_t name_address(struct cn_perf_io *io,
                             const struct cn_perf_io_thread *thread,
                             const struct cn_system_call *call)
{
    struct cn_names *names = &io->descriptors.names;
    uint32_t own = cn_perf_descriptors_name(&io->descriptors, thread->opening);
    const char *port = strrchr(thread->path, ':');
    struct cn_text text = {0};

    if (call->role == CN_IO_CONNECTS || (port && strncmp(thread->path, "unix:", 5) == 0))
        return cn_names_add(names, thread->path);
    /* The kernel chooses port 0 later; that of a client is another one in each run. */
    if (!port || (call->role == CN_IO_BINDS && strcmp(port, ":0") == 0))
        return CN_NONE;
    if (call->role == CN_IO_BINDS)
        cn_text_str_add(&text, port);
    else
        cn_text_printf(&text, "%.*s from %.*s", LISTENER_LEN_MAX,
                       own != CN_NONE ? names->list[own] : "socket",
                       (int)(port - thread->path), thread->path);
    uint32_t name = cn_names_add(names, cn_text_str(&text));
    cn_text_done(&text);
    return name;
}

/* The path begins at the directory that the call names. An empty one is what that descriptor is, as
 * fstat() of the C library asks for. */
static void name_path(struct cn_perf_io *io, struct cn_perf_io_thread *thread)
{
    const struct cn_system_call *call = cn_system_call(thread->call);
    int32_t directory = call->directory >= 0 ? (int32_t)thread->arguments[call->directory]
                                             : AT_WORKING_DIRECTORY;

    if (!thread->path)
        return;
    /* An address, not a path. */
    if (call->path < 0)
        thread->name = name_address(io, thread, call);
    else if (thread->path[0] == '\0' && directory != AT_WORKING_DIRECTORY)
        thread->opening = cn_perf_descriptors_use(&io->descriptors, thread->pid,
                                                  directory, thread->begin_ns);
    else
        thread->name = cn_perf_descriptors_path(
            &io->descriptors, thread->pid,
            directory != AT_WORKING_DIRECTORY ? &directory : NULL, thread->path);
}

static void enter(struct cn_perf_io *io, const struct cn_perf_sample *sample,
                  uint32_t thread_number, uint32_t context)
{
    struct cn_perf_io_thread *thread = thread_at(io, sample->tid);
    uint16_t number = call_of(io, sample);

    abandon(io, thread);
    thread->request = 0;
    if (number == CN_SYSTEM_CALL_NONE || sample->raw.len < ENTER_LEN)
        return;
    const struct cn_system_call *call = cn_system_call(number);
    for (size_t i = 0; i < ARGUMENTS_MAX; i++)
        thread->arguments[i] = cn_u64_get(sample->raw.ptr + ARGUMENTS_OFF + 8 * i);
    thread->begin_ns = sample->time_ns;
    thread->pid = sample->pid;
    thread->thread = thread_number;
    thread->context = context;
    thread->call = number;
    thread->name = CN_NONE;
    thread->opening = 0;
    if (call->descriptor >= 0 && call->role != CN_IO_CLOSES)
        thread->opening = cn_perf_descriptors_use(
            &io->descriptors, sample->pid, (int32_t)thread->arguments[call->descriptor],
            sample->time_ns);
    if (call->role == CN_IO_CLOSES)
        cn_perf_descriptors_close(&io->descriptors, sample->pid,
                                  (uint32_t)thread->arguments[0],
                                  (uint32_t)thread->arguments[0]);
    if (call->role == CN_IO_CLOSES_ALL)
        cn_perf_descriptors_close(&io->descriptors, sample->pid,
                                  (uint32_t)thread->arguments[0],
                                  (uint32_t)thread->arguments[1]);
}

/* What fcntl() has done. */
static void control(struct cn_perf_io *io, const struct cn_perf_io_thread *thread,
                    const struct cn_perf_opened *result)
{
    uint32_t command = (uint32_t)thread->arguments[1];
    struct cn_perf_opened copy = *result;

    copy.is_closed_by_exec = command == F_COPIES_CLOSED;
    if (command == F_COPIES || command == F_COPIES_CLOSED)
        cn_perf_descriptors_copy(&io->descriptors, (int32_t)thread->arguments[0], &copy);
    if (command == F_SETS_FLAGS)
        cn_perf_descriptors_set_closed(&io->descriptors, thread->pid,
                                       (int32_t)thread->arguments[0],
                                       thread->arguments[2] & 1);
}

/* What a call that succeeded has done to descriptors. */
static void apply(struct cn_perf_io *io, struct cn_perf_io_thread *thread, int64_t result,
                  uint64_t time_ns)
{
    const struct cn_system_call *call = cn_system_call(thread->call);
    struct cn_perf_opened opened = {
        .pid = thread->pid,
        .descriptor = (int32_t)result,
        .name = thread->name,
        .is_closed_by_exec =
            call->flags >= 0 && thread->arguments[call->flags] & call->closing_flag,
        .time_ns = time_ns,
    };

    switch (call->role) {
    case CN_IO_MAKES:
        thread->opening = cn_perf_descriptors_open(&io->descriptors, &opened);
        break;
    case CN_IO_CONNECTS:
        opened.descriptor = (int32_t)thread->arguments[0];
        thread->opening = cn_perf_descriptors_connect(&io->descriptors, &opened);
        break;
    case CN_IO_BINDS:
        cn_perf_descriptors_call(&io->descriptors, thread->opening, thread->name);
        break;
    case CN_IO_COPIES:
        cn_perf_descriptors_copy(&io->descriptors, (int32_t)thread->arguments[0],
                                 &opened);
        break;
    case CN_IO_CONTROLS:
        control(io, thread, &opened);
        break;
    case CN_IO_ENTERS:
        cn_perf_descriptors_enter(
            &io->descriptors, thread->pid,
            call->path >= 0
                ? thread->name
                : cn_perf_descriptors_name(&io->descriptors, thread->opening));
        break;
    case CN_IO_REMAPS:
        cn_perf_spaces_remap(io->spaces, thread->pid, thread->arguments[0],
                             (uint64_t)result, thread->arguments[2]);
        break;
    default:
        break;
    }
}

/* Connections that are begun are told by an error. */
static bool has_succeeded(const struct cn_system_call *call, int64_t result)
{
    enum { IN_PROGRESS = -115 };

    return result >= 0 || (call->role == CN_IO_CONNECTS && result == IN_PROGRESS);
}

static void leave(struct cn_perf_io *io, const struct cn_perf_sample *sample)
{
    struct cn_perf_io_thread *thread = thread_at(io, sample->tid);
    int64_t result;

    if (sample->raw.len < EXIT_LEN)
        return;
    result = (int64_t)cn_u64_get(sample->raw.ptr + RESULT_OFF);
    if (thread->call == CN_SYSTEM_CALL_NONE || thread->call != call_of(io, sample)) {
        abandon(io, thread);
        thread->path = NULL;
        return;
    }
    name_path(io, thread);
    if (has_succeeded(cn_system_call(thread->call), result))
        apply(io, thread, result, sample->time_ns);
    if (is_shown(thread->call))
        add_call(io, thread, sample->time_ns, result);
    thread->call = CN_SYSTEM_CALL_NONE;
    thread->path = NULL;
}

/* The request of a disk, or its completion, whose fields are at the same places. */
static uint32_t *request_at(struct cn_perf_io *io, const struct cn_perf_sample *sample)
{
    return cn_map_at(&io->request_of,
                     cn_io_disk_key(cn_u32_get(sample->raw.ptr + DISK_OFF),
                                    cn_u64_get(sample->raw.ptr + SECTOR_OFF)),
                     0);
}

static enum cn_io_kind kind_of_request(const struct cn_perf_sample *sample)
{
    const char *letters = (const char *)sample->raw.ptr + LETTERS_OFF;

    return memchr(letters, 'R', 2)   ? CN_IO_DISK_READ
           : memchr(letters, 'W', 2) ? CN_IO_DISK_WRITE
                                     : CN_IO_DISK_OTHER;
}

/* It is about the file of the system call that the thread is in. */
static void request(struct cn_perf_io *io, const struct cn_perf_sample *sample,
                    uint32_t thread_number, uint32_t context)
{
    struct cn_perf_io_thread *thread = thread_at(io, sample->tid);
    bool is_in_call = thread->call != CN_SYSTEM_CALL_NONE;
    struct cn_perf_io_call added = {
        .call = {.begin_ns = sample->time_ns,
                 .profile = thread_number,
                 .caller = context,
                 .target = is_in_call ? thread->name : CN_NONE,
                 .descriptor = -1},
        .opening = is_in_call ? thread->opening : 0,
        .before = is_in_call ? 0 : thread->request,
    };
    char disk[32];

    if (sample->raw.len < REQUEST_LEN)
        return;
    added.call.call = cn_io_disk_call(kind_of_request(sample));
    added.call.result = cn_u32_get(sample->raw.ptr + BYTES_OFF);
    if (!is_in_call && thread->page != CN_NONE) {
        added.call.call = cn_system_call_named(CN_IO_FAULT_NAME);
        added.call.target = thread->page;
    }
    thread->page = CN_NONE;
    if (added.call.target == CN_NONE && added.opening == 0) {
        uint32_t number = cn_u32_get(sample->raw.ptr + DISK_OFF);

        (void)snprintf(disk, sizeof(disk), "disk %" PRIu32 ":%" PRIu32, number >> 20,
                       number & 0xfffff);
        added.call.target = cn_names_add(&io->descriptors.names, disk);
    }
    CN_PUSH(io->calls, io->call_count, io->call_capacity, added);
    *request_at(io, sample) = (uint32_t)io->call_count;
    if (!is_in_call)
        thread->request = (uint32_t)io->call_count;
    io->has_disk = true;
}

/* The requests of the thread since its last system call were for the page, if they were made where that is accessed:
 * not all system calls are recorded. */
static void name_requests(struct cn_perf_io *io, const struct cn_perf_sample *sample,
                          const struct cn_io_call *fault)
{
    struct cn_perf_io_thread *thread = thread_at(io, sample->tid);

    for (; thread->request != 0;
         thread->request = io->calls[thread->request - 1].before) {
        struct cn_io_call *call = &io->calls[thread->request - 1].call;

        if (call->caller != fault->caller)
            continue;
        call->call = cn_system_call_named(CN_IO_FAULT_NAME);
        call->target = fault->target;
    }
}

/* It is sampled when the page is there. */
static void fault(struct cn_perf_io *io, bool is_major,
                  const struct cn_perf_sample *sample, uint32_t thread_number,
                  uint32_t context)
{
    struct cn_perf_io_call added = {
        .call = {.begin_ns = sample->time_ns,
                 .end_ns = sample->time_ns,
                 .result = sample->period < INT64_MAX ? (int64_t)sample->period : 1,
                 .profile = thread_number,
                 .caller = context,
                 .target = cn_names_add(
                     &io->descriptors.names,
                     cn_perf_mapped_at(io->spaces, sample->pid, sample->address)),
                 .descriptor = -1,
                 .call = is_major ? io->major : io->minor},
    };

    CN_PUSH(io->calls, io->call_count, io->call_capacity, added);
    io->has_faults = true;
    if (is_major)
        name_requests(io, sample, &added.call);
}

static void complete(struct cn_perf_io *io, const struct cn_perf_sample *sample)
{
    uint32_t *at;

    if (sample->raw.len < LETTERS_OFF)
        return;
    at = request_at(io, sample);
    if (*at > 0 && sample->time_ns >= io->calls[*at - 1].call.begin_ns)
        io->calls[*at - 1].call.end_ns = sample->time_ns;
    *at = 0;
}

void cn_perf_io_take(struct cn_perf_io *io, enum cn_perf_io_kind kind,
                     const struct cn_perf_sample *sample, uint32_t thread,
                     uint32_t context)
{
    cn_perf_gaps_see(&io->gaps, sample->cpu, sample->time_ns);
    if (kind == CN_PERF_IO_ENTER)
        enter(io, sample, thread, context);
    else if (kind == CN_PERF_IO_REQUEST)
        request(io, sample, thread, context);
    else if (kind == CN_PERF_IO_COMPLETE)
        complete(io, sample);
    else if (kind == CN_PERF_IO_MINOR || kind == CN_PERF_IO_MAJOR)
        fault(io, kind == CN_PERF_IO_MAJOR, sample, thread, context);
    else
        leave(io, sample);
}

bool cn_perf_io_is(const struct cn_perf_record *record)
{
    struct cn_perf_file_name body;

    return cn_perf_file_name_decode(record->body, &body) &&
           body.magic == CN_PERF_FILE_MAGIC;
}

static void take_name(struct cn_perf_io *io, const struct cn_perf_record *record)
{
    struct cn_perf_descriptors *descriptors = &io->descriptors;
    struct cn_perf_file_name body;
    const char *text;

    if (!cn_perf_file_name_decode(record->body, &body) ||
        !(text = cn_bytes_string(record->body, cn_perf_file_name_size))) {
        io->bad_count++;
        return;
    }
    switch (body.kind) {
    case CN_PERF_IS_ARGUMENT:
        thread_at(io, body.tid)->path = cn_names_keep(&descriptors->names, text);
        break;
    case CN_PERF_IS_DESCRIPTOR:
        cn_perf_descriptors_found(
            descriptors,
            &(struct cn_perf_opened){
                .pid = body.pid,
                .descriptor = (int32_t)body.descriptor,
                .name = cn_names_add(&descriptors->names, text),
                .is_closed_by_exec = body.flags & CN_PERF_FILE_IS_CLOSED_BY_EXEC,
                .time_ns = body.time_ns,
            },
            body.since_ns);
        break;
    case CN_PERF_IS_MADE:
        (void)cn_perf_descriptors_open(
            descriptors,
            &(struct cn_perf_opened){
                .pid = body.pid,
                .descriptor = (int32_t)body.descriptor,
                .name = cn_names_add(&descriptors->names, text),
                .is_closed_by_exec = body.flags & CN_PERF_FILE_IS_CLOSED_BY_EXEC,
                .time_ns = body.time_ns,
            });
        break;
    case CN_PERF_IS_PAGE:
        thread_at(io, body.tid)->page = cn_names_add(&descriptors->names, text);
        break;
    case CN_PERF_IS_DIRECTORY:
        cn_perf_descriptors_enter(descriptors, body.pid,
                                  cn_names_add(&descriptors->names, text));
        break;
    default:
        io->bad_count++;
    }
}

void cn_perf_io_take_record(struct cn_perf_io *io, const struct cn_perf_file *file,
                            const struct cn_perf_record *record)
{
    const uint8_t *body = record->body.ptr;
    uint32_t cpu;

    if (!io->is_used)
        return;
    cpu = cn_perf_cpu_of(file, record);

    switch (record->head.type) {
    case CN_PERF_HEADER_EVENT_TYPE:
        take_name(io, record);
        return;
    case CN_PERF_LOST:
    case CN_PERF_LOST_SAMPLES:
        cn_perf_gaps_add(&io->gaps, cpu, record->time_ns);
        cn_perf_descriptors_forget(&io->descriptors);
        break;
    case CN_PERF_FORK:
        if (record->body.len < FORK_LEN)
            break;
        abandon(io, thread_at(io, cn_u32_get(body + 8)));
        cn_perf_descriptors_fork(&io->descriptors, cn_u32_get(body + 4),
                                 cn_u32_get(body));
        break;
    case CN_PERF_COMM:
        if (record->head.misc & CN_PERF_MISC_COMM_EXEC && record->body.len >= 4)
            cn_perf_descriptors_exec(&io->descriptors, cn_u32_get(body));
        break;
    default:
        break;
    }
    if (cpu != UINT32_MAX)
        cn_perf_gaps_see(&io->gaps, cpu, record->time_ns);
}

static uint32_t frame_named(struct cn_perf_io *io, const char *name)
{
    return cn_import_frame(io->import, &(struct cn_import_frame){
                                           .name = name, .module = KERNEL, .file = ""});
}

/* What a call is about, and its context. */
static void place(struct cn_perf_io *io, struct cn_perf_io_call *call, uint32_t unknown)
{
    struct cn_io_call *c = &call->call;

    if (c->target == CN_NONE && call->opening != 0) {
        c->target = cn_perf_descriptors_name(&io->descriptors, call->opening);
        if (c->target == CN_NONE)
            c->target = unknown;
    }
    if (c->caller == 0)
        c->caller = cn_import_entry(io->import, CN_ENTRY_UNKNOWN);
    c->context = cn_import_call(io->import, c->caller,
                                frame_named(io, cn_system_call(c->call)->name));
    if (c->target != CN_NONE)
        c->context =
            cn_import_call(io->import, c->context,
                           frame_named(io, io->descriptors.names.list[c->target]));
    if (c->end_ns != 0 && cn_io_call_class(c) != CN_IO_FAULTS &&
        !cn_perf_gaps_is_sure(&io->gaps, c->begin_ns, c->end_ns))
        c->end_ns = 0;
}

static bool add_values(struct cn_perf_io *io, const struct cn_io_call *call,
                       const uint32_t metrics[CN_IO_METRIC_COUNT], struct cn_error *err)
{
    for (unsigned i = 0; i < CN_IO_METRIC_COUNT; i++) {
        double value = cn_io_metric_of(call, (enum cn_io_metric)i);

        if (value > 0 && !cn_import_add(io->import, call->profile, call->context,
                                        metrics[i], value, err))
            return false;
    }
    return true;
}

static void add_history(struct cn_perf_io *io)
{
    struct cn_io_call *list = cn_alloc(io->call_count, sizeof(*list));

    for (size_t i = 0; i < io->call_count; i++) {
        list[i] = io->calls[i].call;
        list[i].begin_ns = cn_u64_sum(io->epoch_ns, list[i].begin_ns);
        if (list[i].end_ns != 0)
            list[i].end_ns = cn_u64_sum(io->epoch_ns, list[i].end_ns);
        list[i].profile++;
    }
    CN_SORT(list, io->call_count, CN_UP(struct cn_io_call, begin_ns));
    cn_import_io(io->import,
                 &(struct cn_io_calls){list, io->descriptors.names.list, io->call_count,
                                       io->descriptors.names.count});
    free(list);
}

static bool has_class(const struct cn_perf_io *io, enum cn_io_class class)
{
    return class == CN_IO_SYSTEM_CALLS ||
           (class == CN_IO_DISKS ? io->has_disk : io->has_faults);
}

bool cn_perf_io_finish(struct cn_perf_io *io, struct cn_error *err)
{
    uint32_t metrics[CN_IO_METRIC_COUNT], unknown;

    if (io->bad_count > 0)
        cn_import_warn(io->import, true,
                       "records of names of files that cannot be read: %" PRIu64,
                       io->bad_count);
    for (size_t i = 0; i < io->thread_count; i++)
        abandon(io, &io->threads[i]);
    if (io->call_count == 0)
        return true;
    for (unsigned i = 0; i < CN_IO_METRIC_COUNT; i++) {
        if (!has_class(io, cn_io_metrics[i].class))
            continue;
        if (!cn_import_metric(io->import, cn_io_metrics[i].name, &metrics[i], err))
            return false;
        cn_import_describe(io->import, metrics[i], cn_io_metrics[i].description);
    }
    unknown = cn_names_add(&io->descriptors.names, UNKNOWN_DESCRIPTOR);
    cn_perf_gaps_finish(&io->gaps);
    for (size_t i = 0; i < io->call_count; i++) {
        place(io, &io->calls[i], unknown);
        if (!add_values(io, &io->calls[i].call, metrics, err))
            return false;
    }
    add_history(io);
    return true;
}
