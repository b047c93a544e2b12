#include "sampler/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "sampler/descriptor_name.h"
#include "sampler/kernel/kernel.h"
#include "sampler/kernel/paths.h"
#include "sampler/kernel/paths_shared.h"

enum {
    NUMBER_OFF = 8,
    ARGUMENTS_OFF = 16,
    ENTER_LEN = 64,
    EXIT_LEN = 24,
    DESCRIPTORS_MAX = 4096, /* of a process that runs already */
    NAME_MAX_LEN = PATH_MAX + 64,
    SOCKET_TYPES = 15,
    DISK_OFF = 8, /* of requests of disks */
    SECTOR_OFF = 16,
    DISK_LEN = 44,
    MINOR_FAULTS_PER_S = 10000, /* of a thread: of more, some are sampled */
};

/* The condition for the numbers of some of the calls: "id == 0 || id == 1". */
static char *filter_of(enum cn_sample_call which)
{
    enum cn_system_machine machine = cn_system_machine_here();
    struct cn_text text = {0};

    for (size_t i = 0; i < cn_system_call_count(); i++) {
        const struct cn_system_call *call = cn_system_call(i);
        bool is_shown = call->kind != CN_IO_HIDDEN;

        if (call->numbers[machine] < 0 || (which == CN_SAMPLE_CALL_BEGINS && !is_shown) ||
            (which == CN_SAMPLE_CALL_CHANGES && is_shown))
            continue;
        cn_text_printf(&text, "%sid == %d", text.len > 0 ? " || " : "",
                       call->numbers[machine]);
    }
    return text.chars;
}

bool cn_sample_io_add_events(struct cn_sample_io *io, struct cn_sample_events *events,
                             struct cn_error *err)
{
    enum cn_system_machine machine = cn_system_machine_here();

    if (machine == CN_SYSTEM_MACHINE_COUNT)
        return cn_fail(err, CN_ERR_USAGE, "--io: not on this processor");
    cn_system_numbers_init(&io->numbers, machine);
    for (unsigned i = CN_SAMPLE_CALL_BEGINS; i <= CN_SAMPLE_CALL_ENDS; i++) {
        struct cn_sample_event *event;

        if (!cn_sample_events_add(events,
                                  i == CN_SAMPLE_CALL_ENDS ? "raw_syscalls:sys_exit"
                                                           : "raw_syscalls:sys_enter",
                                  err))
            return cn_fail_in(err, "--io");
        io->filters[i] = filter_of((enum cn_sample_call)i);
        event = &events->list[events->count - 1];
        if (i == CN_SAMPLE_CALL_BEGINS)
            io->event = (uint32_t)events->count - 1;
        event->call = (enum cn_sample_call)i;
        event->filter = io->filters[i];
        event->attr.sample_type = PERF_SAMPLE_RAW;
    }
    return true;
}

bool cn_sample_io_add_disks(struct cn_sample_events *events)
{
    static const char *const names[] = {"block:block_rq_issue",
                                        "block:block_rq_complete"};
    struct cn_error ignored = {0};
    uint64_t config;

    for (unsigned i = 0; i < 2; i++)
        if (!cn_sample_tracepoint(names[i], &config, &ignored))
            return false;
    for (unsigned i = 0; i < 2; i++) {
        struct cn_sample_event *event;

        if (!cn_sample_events_add(events, names[i], &ignored))
            return false;
        event = &events->list[events->count - 1];
        event->call = (enum cn_sample_call)(CN_SAMPLE_DISK_BEGINS + i);
        /* Interrupts end them, in whatever thread. */
        event->is_of_machine = event->call == CN_SAMPLE_DISK_ENDS;
        event->attr.sample_type = PERF_SAMPLE_RAW;
    }
    return true;
}

bool cn_sample_io_add_faults(struct cn_sample_io *io, struct cn_sample_events *events,
                             struct cn_error *err)
{
    for (unsigned i = CN_SAMPLE_MINOR_FAULTS; i <= CN_SAMPLE_MAJOR_FAULTS; i++) {
        bool is_minor = i == CN_SAMPLE_MINOR_FAULTS;
        struct cn_sample_event *event;

        if (!cn_sample_events_add(events, is_minor ? "minor-faults" : "major-faults",
                                  err))
            return false;
        event = &events->list[events->count - 1];
        event->call = (enum cn_sample_call)i;
        event->attr.sample_type = PERF_SAMPLE_ADDR;
        event->attr.freq = is_minor;
        event->attr.sample_freq = is_minor ? MINOR_FAULTS_PER_S : 1;
        if (is_minor)
            io->fault_event = (uint32_t)events->count - 1;
    }
    io->has_faults = true;
    return true;
}

bool cn_sample_io_wants_disk(struct cn_sample_io *io, enum cn_sample_call which,
                             struct cn_bytes raw)
{
    bool is_begin = which == CN_SAMPLE_DISK_BEGINS;
    struct cn_bytes fields;
    uint64_t key;

    if (!cn_bytes_from(raw, sizeof(uint32_t), &fields) || fields.len < DISK_LEN)
        return false;
    key = cn_io_disk_key(cn_u32_get(fields.ptr + DISK_OFF),
                         cn_u64_get(fields.ptr + SECTOR_OFF));
    if (!is_begin && cn_map_find(&io->requested, key, 0) == 0)
        return false;
    *cn_map_at(&io->requested, key, 0) = is_begin;
    return true;
}

/* An event that is not on: a program runs at its tracepoint in all tasks. */
static int open_tracepoint(struct cn_sample_io *io, const char *name)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .disabled = 1};
    struct cn_error ignored = {0};
    uint64_t config;
    int fd = -1;

    if (cn_sample_tracepoint(name, &config, &ignored)) {
        attr.config = config;
        fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
    }
    if (fd >= 0)
        CN_PUSH(io->fds, io->fd_count, io->fd_capacity, fd);
    return fd;
}

static int open_call(struct cn_sample_io *io, const struct cn_system_call *call)
{
    char *name = cn_strprintf("syscalls:sys_exit_%s",
                              call->tracepoint ? call->tracepoint : call->name);
    int fd = open_tracepoint(io, name);

    free(name);
    return fd;
}

void cn_sample_io_unwind(struct cn_sample_io *io, struct cn_kernel *kernel)
{
    enum cn_system_machine machine = cn_system_machine_here();
    int16_t *numbers = cn_alloc(cn_system_call_count(), sizeof(*numbers));
    int fd = open_tracepoint(io, "raw_syscalls:sys_enter");
    struct cn_error ignored = {0};
    size_t count = 0;

    for (size_t i = 0; i < cn_system_call_count(); i++)
        if (cn_system_call(i)->numbers[machine] >= 0 &&
            cn_system_call(i)->kind != CN_IO_HIDDEN)
            numbers[count++] = cn_system_call(i)->numbers[machine];
    io->is_unwound =
        fd >= 0 && cn_kernel_attach_calls(kernel, fd, numbers, count, &ignored);
    free(numbers);
}

/* What is read of a call; CN_KERNEL_ARGUMENT_COUNT: nothing. */
static enum cn_kernel_argument argument_of(const struct cn_system_call *call)
{
    bool makes_peer = call->role == CN_IO_MAKES && call->descriptor >= 0;

    if (call->path >= 0)
        return call->path == 0 ? CN_KERNEL_PATH_FIRST : CN_KERNEL_PATH_SECOND;
    if (call->role == CN_IO_CONNECTS || strcmp(call->name, "bind") == 0)
        return CN_KERNEL_ADDRESS_SECOND;
    if (call->role == CN_IO_BINDS || makes_peer)
        return CN_KERNEL_ADDRESS_FOUND;
    if (call->role != CN_IO_PAIRS)
        return CN_KERNEL_ARGUMENT_COUNT;
    return strcmp(call->name, "socketpair") == 0 ? CN_KERNEL_PAIR_FOURTH
           : call->flags >= 0                    ? CN_KERNEL_PAIR_FIRST_FLAGS
                                                 : CN_KERNEL_PAIR_FIRST;
}

void cn_sample_io_open(struct cn_sample_io *io, struct cn_error *refusal)
{
    enum cn_system_machine machine = cn_system_machine_here();

    io->paths = cn_kernel_paths_new(refusal);
    for (size_t i = 0; io->paths && i < cn_system_call_count(); i++) {
        const struct cn_system_call *call = cn_system_call(i);
        enum cn_kernel_argument which = argument_of(call);
        int fd;

        if (call->numbers[machine] < 0 || which == CN_KERNEL_ARGUMENT_COUNT ||
            (fd = open_call(io, call)) < 0)
            continue;
        if (!cn_kernel_paths_attach(io->paths, fd, which, refusal)) {
            cn_kernel_paths_free(io->paths);
            io->paths = NULL;
        }
    }
}

void cn_sample_io_close(struct cn_sample_io *io)
{
    for (size_t i = 0; i < io->fd_count; i++)
        (void)close(io->fds[i]);
    for (size_t i = 0; i <= CN_SAMPLE_CALL_ENDS; i++)
        free(io->filters[i]);
    free(io->fds);
    cn_kernel_paths_free(io->paths);
    cn_map_done(&io->known);
    cn_map_done(&io->image_of);
    cn_map_done(&io->requested);
    cn_text_done(&io->record);
    cn_text_done(&io->text);
    *io = (struct cn_sample_io){0};
}

/* Write what is in io->text. */
static bool write_name(struct cn_sample_io *io, struct cn_perf_writer *writer,
                       struct cn_perf_file_name *body, struct cn_error *err)
{
    size_t text_len = io->text.len < NAME_MAX_LEN ? io->text.len : NAME_MAX_LEN;
    size_t len =
        cn_perf_head_size + cn_perf_file_name_size + (size_t)cn_align_up(text_len + 1, 8);
    struct cn_perf_head head = {.type = CN_PERF_HEADER_EVENT_TYPE, .size = (uint16_t)len};
    uint8_t *at;

    cn_text_clear(&io->record);
    cn_text_fill(&io->record, '\0', len);
    at = (uint8_t *)io->record.chars;
    body->magic = CN_PERF_FILE_MAGIC;
    (void)cn_perf_head_encode(&head, at);
    (void)cn_perf_file_name_encode(body, at + cn_perf_head_size);
    memcpy(at + cn_perf_head_size + cn_perf_file_name_size, io->text.chars, text_len);
    return cn_perf_writer_add(writer, (struct cn_bytes){at, len}, err);
}

static uint32_t *known_at(struct cn_sample_io *io, uint32_t pid, uint32_t descriptor)
{
    uint32_t *image = cn_map_at(&io->image_of, pid, 0);

    *image = *image > 0 ? *image : ++io->image_count;
    return cn_map_at(&io->known, (uint64_t)*image << 32 | descriptor, 0);
}

/* Look a descriptor up, once. What stands for the working directory is none. */
static bool look_up(struct cn_sample_io *io, struct cn_perf_writer *writer, uint32_t pid,
                    uint32_t descriptor, struct cn_error *err)
{
    uint32_t *known = known_at(io, pid, descriptor);
    struct cn_perf_file_name body = {
        .since_ns = cn_clock_ns(),
        .pid = pid,
        .kind = CN_PERF_IS_DESCRIPTOR,
        .descriptor = descriptor,
    };
    bool is_closed_by_exec;

    if (*known || descriptor > INT32_MAX)
        return true;
    *known = 1;
    cn_text_clear(&io->text);
    if (!cn_descriptor_name(pid, (int32_t)descriptor, &io->text, &is_closed_by_exec))
        return true;
    body.time_ns = cn_clock_ns();
    body.flags = is_closed_by_exec ? CN_PERF_FILE_IS_CLOSED_BY_EXEC : 0;
    return write_name(io, writer, &body, err);
}

/* The working directory of a process that is met. */
static bool look_up_directory(struct cn_sample_io *io, struct cn_perf_writer *writer,
                              uint32_t pid, struct cn_error *err)
{
    struct cn_perf_file_name body = {
        .time_ns = cn_clock_ns(), .pid = pid, .kind = CN_PERF_IS_DIRECTORY};
    char path[32], directory[PATH_MAX];
    ssize_t len;

    (void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/cwd", pid);
    len = readlink(path, directory, sizeof(directory));
    if (len <= 0)
        return true;
    cn_text_clear(&io->text);
    cn_text_add(&io->text, directory, (size_t)len);
    return write_name(io, writer, &body, err);
}

bool cn_sample_io_begin(struct cn_sample_io *io, struct cn_perf_writer *writer, pid_t pid,
                        struct cn_error *err)
{
    char path[32];
    struct dirent *entry;
    bool ok = look_up_directory(io, writer, (uint32_t)pid, err);
    size_t count = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    while (ok && folder && count++ < DESCRIPTORS_MAX && (entry = readdir(folder)))
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            ok = look_up(io, writer, (uint32_t)pid,
                         (uint32_t)strtoul(entry->d_name, NULL, 10), err);
    if (folder)
        (void)closedir(folder);
    return ok;
}

/* A call is over: what it made is looked up, unless its path is known. */
static bool take_end(struct cn_sample_io *io, struct cn_perf_writer *writer, uint32_t pid,
                     const struct cn_system_call *call, int64_t result,
                     struct cn_error *err)
{
    bool has_path = call->path >= 0 && io->paths;

    if (result < 0 || result > INT32_MAX ||
        (call->role != CN_IO_MAKES && call->role != CN_IO_COPIES &&
         call->role != CN_IO_CONTROLS))
        return true;
    *known_at(io, pid, (uint32_t)result) = has_path;
    return call->role != CN_IO_MAKES || call->descriptor < 0 ||
           look_up(io, writer, pid, (uint32_t)result, err);
}

bool cn_sample_io_take(struct cn_sample_io *io, struct cn_perf_writer *writer,
                       enum cn_sample_call which, uint32_t pid, struct cn_bytes raw,
                       struct cn_error *err)
{
    const struct cn_system_call *call;
    const uint8_t *arguments;
    struct cn_bytes fields;
    uint32_t descriptor;
    uint16_t number;

    if (!cn_bytes_from(raw, sizeof(uint32_t), &fields) || fields.len < EXIT_LEN)
        return true;
    number = cn_system_call_find(&io->numbers, cn_u64_get(fields.ptr + NUMBER_OFF));
    if (number == CN_SYSTEM_CALL_NONE)
        return true;
    call = cn_system_call(number);
    if (which == CN_SAMPLE_CALL_ENDS)
        return take_end(io, writer, pid, call,
                        (int64_t)cn_u64_get(fields.ptr + ARGUMENTS_OFF), err);
    io->call_count += call->kind != CN_IO_HIDDEN;
    if (fields.len < ENTER_LEN)
        return true;
    arguments = fields.ptr + ARGUMENTS_OFF;
    if (call->directory >= 0 &&
        !look_up(io, writer, pid,
                 (uint32_t)cn_u64_get(arguments + 8 * (size_t)call->directory), err))
        return false;
    if (call->descriptor < 0)
        return true;
    descriptor = (uint32_t)cn_u64_get(arguments + 8 * (size_t)call->descriptor);
    if (call->role == CN_IO_BINDS)
        return true;
    if (call->role != CN_IO_CLOSES && call->role != CN_IO_CONNECTS)
        return look_up(io, writer, pid, descriptor, err);
    *known_at(io, pid, descriptor) = call->role == CN_IO_CONNECTS && io->paths;
    return true;
}

bool cn_sample_io_restore(struct cn_sample_io *io, struct cn_bytes words,
                          struct cn_bytes *raw)
{
    enum { HEAD_LEN = sizeof(uint32_t) + NUMBER_OFF };

    if (words.len != sizeof(io->fields) - HEAD_LEN - sizeof(uint32_t))
        return false;
    /* The samples of the kernel have the length in a multiple of 8 bytes. */
    cn_u32_put(io->fields, sizeof(io->fields) - sizeof(uint32_t));
    memcpy(io->fields + HEAD_LEN, words.ptr, words.len);
    *raw = (struct cn_bytes){io->fields, sizeof(io->fields)};
    return true;
}

/* Two descriptors of a pipe, or of sockets that are connected to each other. Flags are at the same bit in
 * both calls; that of sockets begins with their type, which is not 0. */
static bool take_pair(struct cn_sample_io *io, struct cn_perf_writer *writer,
                      const struct cn_kernel_path *path, struct cn_error *err)
{
    struct cn_perf_file_name body = {
        .time_ns = path->head.time_ns,
        .pid = path->head.pid,
        .tid = path->head.tid,
        .kind = CN_PERF_IS_MADE,
        .flags = path->flags & O_CLOEXEC ? CN_PERF_FILE_IS_CLOSED_BY_EXEC : 0,
    };

    cn_text_str_add(&io->text, path->flags & SOCKET_TYPES ? "socket pair" : "pipe");
    for (size_t i = 0; i < 2; i++) {
        body.descriptor = cn_u32_get((const uint8_t *)path->text + i * sizeof(uint32_t));
        *known_at(io, body.pid, body.descriptor) = 1;
        if (!write_name(io, writer, &body, err))
            return false;
    }
    return true;
}

bool cn_sample_io_take_path(struct cn_sample_io *io, struct cn_perf_writer *writer,
                            struct cn_bytes record, struct cn_error *err)
{
    const size_t head_len = offsetof(struct cn_kernel_path, text);
    struct cn_kernel_path path;
    struct cn_perf_file_name body = {.kind = CN_PERF_IS_ARGUMENT};

    if (record.len < head_len)
        return true;
    memcpy(&path, record.ptr, record.len < sizeof(path) ? record.len : sizeof(path));
    if (path.len == 0 || path.len > record.len - head_len ||
        (path.len == CN_KERNEL_PATH_MAX && path.kind == CN_KERNEL_IS_PATH))
        return true;
    cn_text_clear(&io->text);
    if (path.kind == CN_KERNEL_IS_PAIR)
        return take_pair(io, writer, &path, err);
    if (path.kind == CN_KERNEL_IS_PATH)
        cn_text_add(&io->text, path.text, path.len - 1);
    else if (!cn_descriptor_peer((struct cn_bytes){(const uint8_t *)path.text, path.len},
                                 &io->text))
        return true;
    body.time_ns = path.head.time_ns;
    body.pid = path.head.pid;
    body.tid = path.head.tid;
    return write_name(io, writer, &body, err);
}

void cn_sample_io_exec(struct cn_sample_io *io, uint32_t pid)
{
    *cn_map_at(&io->image_of, pid, 0) = ++io->image_count;
}

void cn_sample_io_forget(struct cn_sample_io *io)
{
    cn_map_done(&io->known);
}
