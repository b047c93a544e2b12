#include "sampler/collect.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/bytes/record.h"
#include "base/text.h"
#include "sampler/kernel/kernel.h"
#include "sampler/languages/languages.h"

/* Offsets in records, with their heads. */
enum {
    PID_OFF = 8,
    FORK_PARENT_OFF = 12,
    TASK_LEN = 24,
    BEGIN_OFF = 16,
    LEN_OFF = 24,
    FILE_OFF = 32,
    BUILD_ID_LEN_OFF = 40,
    BUILD_ID_OFF = 44,
    BUILD_ID_MAX = 20,
    PROTECTION_OFF = 64,
    PATH_OFF = 72,
    CAN_EXECUTE = 4,
};

/* What is read of a process beside its stack, for one sample. */
enum { MEMORY_BYTES_MAX = 1 << 15, LANGUAGE_BYTES_MAX = 1 << 18 };

struct cn_unwound_process {
    uint32_t pid;
    uint32_t thread_count;
    struct cn_unwind_space *space;  /* NULL: it has ended */
    struct cn_languages *languages; /* run-times; NULL: none */
    /* What the kernel knows. An epoch ends when mappings are replaced: what was unwound with
     * older ones may be wrong. */
    uint64_t epoch;
    uint64_t published; /* version of the space; 0: nothing */
    bool is_copied;     /* a stack was copied since then */
};

void cn_unwound_begin(struct cn_unwound *stacks, struct cn_stored_names *names)
{
    *stacks = (struct cn_unwound){
        .unwinder = cn_unwinder_new(),
        .memory = cn_alloc(1, sizeof(*stacks->memory)),
        .names = names,
    };
}

void cn_unwound_done(struct cn_unwound *stacks)
{
    for (size_t i = 0; i < stacks->count; i++) {
        cn_unwind_space_free(stacks->processes[i].space);
        cn_languages_free(stacks->processes[i].languages);
    }
    free(stacks->processes);
    free(stacks->memory);
    cn_map_done(&stacks->process_of);
    cn_unwinder_free(stacks->unwinder);
    *stacks = (struct cn_unwound){0};
}

static struct cn_unwound_process *process_at(struct cn_unwound *stacks, uint32_t pid)
{
    uint32_t *at = cn_map_at(&stacks->process_of, pid, (uint32_t)stacks->count);

    if (*at == stacks->count) {
        CN_PUSH(stacks->processes, stacks->count, stacks->capacity,
                (struct cn_unwound_process){.pid = pid});
    }
    if (!stacks->processes[*at].space) {
        stacks->processes[*at].space = cn_unwind_space_new(stacks->unwinder);
        stacks->processes[*at].thread_count = 1;
        stacks->processes[*at].epoch = ++stacks->last_epoch;
    }
    return &stacks->processes[*at];
}

/* The mappings that the kernel knows are no longer those of the process. */
static void end_epoch(struct cn_unwound *stacks, struct cn_unwound_process *process)
{
    if (process->published > 0)
        cn_kernel_remove_process(stacks->kernel, process->pid);
    process->published = 0;
    process->epoch = ++stacks->last_epoch;
}

struct range {
    uint64_t begin, end;
    bool is_free;
};

static bool is_apart(void *arg, const struct cn_unwind_mapping *mapping)
{
    struct range *range = arg;

    range->is_free = mapping->end <= range->begin || mapping->begin >= range->end;
    return range->is_free;
}

/* Before a mapping is added. */
static void note_mapping(struct cn_unwound *stacks, struct cn_unwound_process *process,
                         uint64_t begin, uint64_t end)
{
    struct range range = {begin, end, true};

    if (process->published == 0)
        return;
    cn_unwind_space_each(process->space, is_apart, &range);
    if (!range.is_free)
        end_epoch(stacks, process);
}

static void map(struct cn_unwound *stacks, struct cn_bytes record, uint16_t misc)
{
    const char *path = cn_bytes_string(record, PATH_OFF);
    struct cn_text inside = {0};
    uint64_t begin, end;
    char build_id[2 * BUILD_ID_MAX + 1] = "";

    if (!path || !(cn_u32_get(record.ptr + PROTECTION_OFF) & CAN_EXECUTE))
        return;
    begin = cn_u64_get(record.ptr + BEGIN_OFF);
    if (!cn_u64_add(begin, cn_u64_get(record.ptr + LEN_OFF), &end))
        return;
    size_t len = misc & PERF_RECORD_MISC_MMAP_BUILD_ID ? record.ptr[BUILD_ID_LEN_OFF] : 0;
    cn_hex_put(build_id, record.ptr + BUILD_ID_OFF,
               len < BUILD_ID_MAX ? len : BUILD_ID_MAX);
    uint32_t pid = cn_u32_get(record.ptr + PID_OFF);
    /* A process in a container has other paths. */
    if (path[0] == '/' && access(path, R_OK) != 0) {
        cn_text_printf(&inside, "/proc/%" PRIu32 "/root%s", pid, path);
        if (access(cn_text_str(&inside), R_OK) == 0)
            path = cn_text_str(&inside);
    }
    struct cn_unwound_process *process = process_at(stacks, pid);
    struct cn_language_mapping mapping = {
        .begin = begin,
        .end = end,
        .file_off = cn_u64_get(record.ptr + FILE_OFF),
        .path = path,
    };
    note_mapping(stacks, process, begin, end);
    cn_unwind_space_map(process->space, begin, end, mapping.file_off, path, build_id);
    if (begin < end && path[0] == '/')
        cn_languages_map(&process->languages, &mapping, stacks->memory, stacks->names);
    /* Frames of languages are found here alone. */
    if (process->languages && process->published > 0)
        end_epoch(stacks, process);
    cn_text_done(&inside);
}

static void forget(struct cn_unwound_process *process)
{
    cn_unwind_space_free(process->space);
    cn_languages_free(process->languages);
    process->space = NULL;
    process->languages = NULL;
}

static void exec_task(struct cn_unwound *stacks, struct cn_bytes record)
{
    struct cn_unwound_process *process =
        process_at(stacks, cn_u32_get(record.ptr + PID_OFF));

    end_epoch(stacks, process);
    cn_unwind_space_clear(process->space);
    cn_languages_free(process->languages);
    process->languages = NULL;
}

static void fork_task(struct cn_unwound *stacks, struct cn_bytes record)
{
    uint32_t pid = cn_u32_get(record.ptr + PID_OFF);
    uint32_t parent = cn_u32_get(record.ptr + FORK_PARENT_OFF);

    if (pid == parent) {
        process_at(stacks, pid)->thread_count++;
        return;
    }
    struct cn_unwind_space *copy =
        cn_unwind_space_copy(process_at(stacks, parent)->space);
    struct cn_languages *languages =
        cn_languages_copy(process_at(stacks, parent)->languages);
    struct cn_unwound_process *process = process_at(stacks, pid);
    end_epoch(stacks, process);
    forget(process);
    process->space = copy;
    process->languages = languages;
    process->thread_count = 1;
}

static void end_task(struct cn_unwound *stacks, struct cn_bytes record)
{
    uint32_t at =
        cn_map_find(&stacks->process_of, cn_u32_get(record.ptr + PID_OFF), UINT32_MAX);
    struct cn_unwound_process *process =
        at < stacks->count ? &stacks->processes[at] : NULL;

    if (!process || !process->space || --process->thread_count > 0)
        return;
    end_epoch(stacks, process);
    forget(process);
}

void cn_unwound_take(struct cn_unwound *stacks, struct cn_bytes record)
{
    uint32_t type = cn_u32_get(record.ptr);
    uint16_t misc = cn_u16_get(record.ptr + 4);

    if (record.len < TASK_LEN)
        return;
    if (type == PERF_RECORD_MMAP2)
        map(stacks, record, misc);
    else if (type == PERF_RECORD_FORK)
        fork_task(stacks, record);
    else if (type == PERF_RECORD_EXIT)
        end_task(stacks, record);
    else if (type == PERF_RECORD_COMM && misc & PERF_RECORD_MISC_COMM_EXEC)
        exec_task(stacks, record);
}

static bool read_memory(void *arg, uint64_t address, uint64_t *out)
{
    return cn_memory_u64(arg, address, out);
}

size_t cn_unwound_unwind(struct cn_unwound *stacks, uint32_t pid, uint32_t tid,
                         const struct cn_unwind_registers *registers,
                         struct cn_bytes stack, uint64_t *out, size_t most)
{
    enum cn_unwind_end end = CN_UNWIND_BAD;
    uint64_t stack_begin = registers->machine == CN_UNWIND_X86_64
                               ? registers->value[CN_UNWIND_X86_RSP]
                               : registers->value[CN_UNWIND_ARM_SP];
    struct cn_unwound_process *process = process_at(stacks, pid);
    struct cn_unwind_space *space = process->space;

    process->is_copied = true;
    cn_memory_begin(stacks->memory, (pid_t)pid,
                    process->languages ? LANGUAGE_BYTES_MAX : MEMORY_BYTES_MAX);
    cn_unwind_space_set_memory(space, read_memory, stacks->memory);
    cn_unwind_space_set_foreign(space, process->languages ? cn_languages_undo : NULL,
                                process->languages);
    size_t count = cn_unwind(space, registers, stack_begin, stack, out, most, &end);
    cn_unwind_space_set_memory(space, NULL, NULL);
    stacks->ends[end]++;
    if (process->languages) {
        struct cn_language_sample sample = {.tid = tid,
                                            .is_whole = end == CN_UNWIND_WHOLE};

        count = cn_languages_finish(process->languages, &sample, out, count, most);
    }
    return count;
}

void cn_unwound_publish(struct cn_unwound *stacks)
{
    for (size_t i = 0; stacks->kernel && i < stacks->count; i++) {
        struct cn_unwound_process *process = &stacks->processes[i];

        if (!process->space || !process->is_copied || process->languages)
            continue;
        process->is_copied = false;
        uint64_t version = cn_unwind_space_version(process->space);
        if (version == process->published)
            continue;
        process->published = version;
        cn_kernel_put_process(stacks->kernel, process->pid, process->epoch,
                              process->space);
    }
}

bool cn_unwound_is_epoch(const struct cn_unwound *stacks, uint32_t pid, uint64_t epoch)
{
    uint32_t at = cn_map_find(&stacks->process_of, pid, UINT32_MAX);

    return at < stacks->count && stacks->processes[at].epoch == epoch;
}

void cn_unwound_count(struct cn_unwound *stacks, enum cn_unwind_end end)
{
    stacks->ends[end]++;
}

const struct cn_unwind_space *cn_unwound_space(const struct cn_unwound *stacks,
                                               uint32_t pid)
{
    uint32_t at = cn_map_find(&stacks->process_of, pid, UINT32_MAX);

    return at < stacks->count ? stacks->processes[at].space : NULL;
}
