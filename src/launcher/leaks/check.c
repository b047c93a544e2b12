#include "launcher/leaks/check.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/map.h"
#include "base/run/clock.h"
#include "base/sort.h"
#include "formats/memory/format.h"
#include "formats/memory/reader.h"
#include "launcher/files/drain.h"
#include "launcher/files/recording_dir.h"
#include "launcher/files/shared_memory.h"
#include "launcher/leaks/scan.h"
#include "launcher/leaks/stop.h"
#include "model/memory/merge.h"
#include "model/memory/use.h"

/* Larger blocks have mappings of their own, which are gone when they are freed. */
enum { HELD_MAX = 128 << 10, LIMIT_S = 30, RECORDS = 1024 };

struct cn_leak_result {
    uint32_t pid, tid;
    uint64_t program;
    uint64_t *addresses;
    size_t count, live_count;
};

/* The records of one process, of all files of the recording. */
struct leak_logs {
    struct cn_file *files;
    struct cn_heap_log *logs;
    char **names;
    size_t count, file_capacity, log_capacity, name_capacity;
    struct cn_error err; /* of a file that is damaged */
    bool has_lost;
};

struct checked_blocks {
    struct cn_leak_block *list;
    size_t count, capacity;
    struct cn_map held;
    double bytes;
};

static void logs_done(struct leak_logs *logs)
{
    for (size_t i = 0; i < logs->count; i++) {
        cn_file_close(&logs->files[i]);
        free(logs->names[i]);
    }
    free(logs->files);
    free(logs->logs);
    free(logs->names);
}

static bool open_log(struct leak_logs *logs, const char *dir, const char *name,
                     struct cn_error *err)
{
    size_t len = strlen(name), suffix_len = strlen(CN_MEMORY_SUFFIX);
    struct cn_file file = {0};

    if (len <= suffix_len || strcmp(name + len - suffix_len, CN_MEMORY_SUFFIX) != 0)
        return true;
    if (!cn_file_open_at(&file, dir, name, err))
        return false;
    char *copy = cn_strdup(name);
    size_t log_count = logs->count, name_count = logs->count;
    CN_PUSH(logs->names, name_count, logs->name_capacity, copy);
    CN_PUSH(logs->logs, log_count, logs->log_capacity,
            (struct cn_heap_log){.name = copy, .file = file.bytes});
    CN_PUSH(logs->files, logs->count, logs->file_capacity, file);
    return true;
}

static bool open_logs(struct leak_logs *logs, const char *dir, struct cn_error *err)
{
    DIR *listing = opendir(dir);
    bool ok = true;

    if (!listing)
        return cn_fail_errno(err, "%s", dir);
    for (struct dirent *entry; ok && (entry = readdir(listing));)
        ok = open_log(logs, dir, entry->d_name, err);
    (void)closedir(listing);
    return ok;
}

static bool read_log(void *arg, uint32_t log, struct cn_heap_event *out)
{
    struct leak_logs *logs = arg;

    return cn_memory_log_next(&logs->logs[log], out, &logs->err) == CN_ITEM;
}

static void hold(struct checked_blocks *blocks, const struct cn_heap_event *event)
{
    uint64_t page_len = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t last = (event->address + event->size) / page_len;

    for (uint64_t page = event->address / page_len;
         page <= last && event->size <= HELD_MAX; page++)
        (void)cn_map_at(&blocks->held, page, 1);
}

/* Memory that was mapped may contain an allocator of the program: it is not a block, but data. */
static void take_event(struct checked_blocks *blocks, struct cn_heap_use *use,
                       const struct cn_heap_event *event)
{
    if (event->kind == CN_HEAP_EVENT_ALLOC && !event->is_mapping) {
        hold(blocks, event);
        cn_heap_use_alloc(use, &(struct cn_heap_block){.process = event->process,
                                                       .address = event->address,
                                                       .time_ns = event->time_ns,
                                                       .size = event->size,
                                                       .calls = 1});
    }
    if (event->kind == CN_HEAP_EVENT_RELEASE)
        (void)cn_heap_use_release(use,
                                  &(struct cn_heap_release){.process = event->process,
                                                            .address = event->address,
                                                            .time_ns = event->time_ns});
}

static void take_live(void *arg, uint64_t address, double bytes)
{
    struct checked_blocks *blocks = arg;

    CN_PUSH(blocks->list, blocks->count, blocks->capacity,
            (struct cn_leak_block){address, (uint64_t)bytes, false});
    blocks->bytes += bytes;
}

/* What is live of a process, by address. A block ends where the next one begins. */
static bool find_blocks(struct checked_blocks *blocks, struct leak_logs *logs,
                        uint64_t process, struct cn_error *err)
{
    struct cn_heap_use *use = cn_heap_use_new();
    const struct cn_heap_event *event;
    struct cn_heap_merge merge;
    uint32_t log;

    cn_heap_merge_begin(&merge, logs->count, read_log, logs);
    while ((event = cn_heap_merge_next(&merge, &log))) {
        logs->has_lost = logs->has_lost || event->kind == CN_HEAP_EVENT_LOST;
        if (event->process == process)
            take_event(blocks, use, event);
    }
    cn_heap_merge_done(&merge);
    cn_heap_use_live(use, process, take_live, blocks);
    cn_heap_use_free(use);
    CN_SORT(blocks->list, blocks->count, CN_UP(struct cn_leak_block, address));
    for (size_t i = 0; i + 1 < blocks->count; i++)
        if (blocks->list[i].size > blocks->list[i + 1].address - blocks->list[i].address)
            blocks->list[i].size = blocks->list[i + 1].address - blocks->list[i].address;
    if (logs->err.text[0])
        return cn_fail(err, logs->err.kind, "%s", logs->err.text);
    return !logs->has_lost || cn_fail(err, CN_ERR_LIMIT, "records of memory were lost");
}

static void add_result(struct cn_leak_check *check, const struct cn_rec_leaks *asked,
                       const struct checked_blocks *blocks)
{
    struct cn_leak_result result = {
        .pid = asked->pid, .tid = asked->tid, .program = asked->program};
    size_t capacity = 0;

    for (size_t i = 0; i < blocks->count; i++) {
        const struct cn_leak_block *block = &blocks->list[i];

        if (block->is_reached)
            continue;
        CN_PUSH(result.addresses, result.count, capacity, block->address);
        check->leaked_bytes += (double)block->size;
    }
    result.live_count = blocks->count;
    check->checked_count++;
    check->leaked_count += result.count;
    check->live_count += blocks->count;
    check->live_bytes += blocks->bytes;
    CN_PUSH(check->results, check->count, check->capacity, result);
}

static bool check_stopped(struct cn_leak_check *check, const struct cn_stopped *stopped,
                          const struct cn_rec_leaks *asked, struct cn_error *err)
{
    uint64_t process = cn_memory_process(asked->pid, asked->program);
    struct cn_shared_memory *memory = check->drain->memory;
    struct leak_logs logs = {0};
    struct checked_blocks blocks = {0};
    struct stat status;

    if (fstat(memory->fd, &status) != 0)
        return cn_fail_errno(err, "the memory of the recorder");
    bool ok = cn_drain_memory(check->drain, asked->pid, err) &&
              open_logs(&logs, check->drain->dir, err) &&
              find_blocks(&blocks, &logs, process, err);
    if (ok && atomic_load(&memory->head->memory_lost_count) > 0)
        ok = cn_fail(err, CN_ERR_LIMIT, "records of memory were lost");
    struct cn_leak_scan scan = {
        .stopped = stopped,
        .blocks = blocks.list,
        .count = blocks.count,
        .held = &blocks.held,
        .skipped_file = status.st_ino,
        .deadline_ns = cn_clock_ns() + LIMIT_S * UINT64_C(1000000000),
    };
    ok = ok && cn_leak_scan_run(&scan, err);
    if (ok)
        add_result(check, asked, &blocks);
    logs_done(&logs);
    free(blocks.list);
    cn_map_done(&blocks.held);
    return ok;
}

static bool run(struct cn_leak_check *check, const struct cn_rec_leaks *asked,
                struct cn_error *err)
{
    const struct cn_rec_shared *head = check->drain->memory->head;
    struct cn_stopped stopped;

    if (atomic_load(&head->is_over) || atomic_load(&head->stop))
        return cn_fail(err, CN_ERR_LIMIT, "the recording ended before the program");
    if (!cn_stopped_begin(&stopped, (pid_t)asked->pid, err))
        return false;
    bool ok = check_stopped(check, &stopped, asked, err);
    cn_stopped_end(&stopped);
    return ok;
}

static void set_state(struct cn_rec_leaks *leaks, uint32_t state)
{
    atomic_store(&leaks->state, state);
    (void)syscall(SYS_futex, &leaks->state, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void cn_leak_check_answer(struct cn_leak_check *check)
{
    struct cn_rec_leaks *leaks = &check->drain->memory->head->leaks;
    uint32_t state = atomic_load(&leaks->state), pid = atomic_load(&leaks->pid);
    struct cn_rec_leaks asked = {
        .pid = pid, .tid = leaks->tid, .program = leaks->program};
    struct cn_error err = {0};

    if (state == CN_REC_REQUEST_FREE || pid == 0)
        return;
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
        atomic_store(&leaks->pid, 0);
        set_state(leaks, CN_REC_REQUEST_FREE);
        return;
    }
    if (state != CN_REC_REQUEST_ASKED)
        return;
    if (!run(check, &asked, &err)) {
        check->failed_count++;
        if (!check->failure[0])
            memcpy(check->failure, err.text, sizeof(check->failure));
    }
    set_state(leaks, CN_REC_REQUEST_ANSWERED);
}

/* The time of the last record of a file, which the new ones follow. */
static bool find_end(const char *dir, const char *name, uint64_t *time_ns,
                     struct cn_error *err)
{
    struct cn_memory_record record;
    struct cn_file file = {0};
    struct cn_bytes bytes;

    if (!cn_file_open_at(&file, dir, name, err))
        return false;
    uint64_t len = file.bytes.len;
    bool ok = (len >= cn_memory_record_size && len % cn_memory_record_size == 0 &&
               cn_bytes_slice(file.bytes, len - cn_memory_record_size,
                              cn_memory_record_size, &bytes) &&
               cn_memory_record_decode(bytes, &record)) ||
              cn_fail(err, CN_ERR_FORMAT, "%s: the last record is cut off", name);
    if (ok)
        *time_ns = record.time_ns;
    cn_file_close(&file);
    return ok;
}

static size_t put(uint8_t *out, uint64_t kind, uint64_t time_ns, uint64_t address,
                  uint64_t size, uint64_t usable_size)
{
    const struct cn_memory_record record = {
        .time_ns = time_ns,
        .place = kind << CN_MEMORY_KIND_AT | address,
        .size = size,
        .usable_size = usable_size,
    };

    cn_memory_record_encode(&record, out);
    return cn_memory_record_size;
}

static bool write_result(const struct cn_leak_check *check,
                         const struct cn_leak_result *result, struct cn_error *err)
{
    const char *dir = check->drain->dir;
    uint8_t out[RECORDS * cn_memory_record_size];
    uint64_t time_ns;
    char name[32];
    int file = -1;
    bool ok;

    (void)snprintf(name, sizeof(name), "%" PRIu32 CN_MEMORY_SUFFIX, result->tid);
    ok = find_end(dir, name, &time_ns, err);
    size_t len =
        ok ? put(out, CN_MEMORY_BEGIN, time_ns, result->pid, 0, result->program) : 0;
    if (ok)
        len += put(out + len, CN_MEMORY_CHECKED, time_ns, 0, result->count,
                   result->live_count);
    for (size_t i = 0; ok && i < result->count; i++) {
        len += put(out + len, CN_MEMORY_LEAKED, time_ns, result->addresses[i], 0, 0);
        if (len == sizeof(out)) {
            ok = cn_recording_dir_add(dir, name, &file, out, len, err);
            len = 0;
        }
    }
    ok = ok && (len == 0 || cn_recording_dir_add(dir, name, &file, out, len, err));
    if (file >= 0)
        (void)close(file);
    return ok;
}

bool cn_leak_check_write(const struct cn_leak_check *check, struct cn_error *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < check->count; i++)
        ok = write_result(check, &check->results[i], err);
    return ok;
}

void cn_leak_check_done(struct cn_leak_check *check)
{
    for (size_t i = 0; i < check->count; i++)
        free(check->results[i].addresses);
    free(check->results);
    *check = (struct cn_leak_check){0};
}
