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
#include "sampler/kernel/shared.h"
#include "sampler/languages/languages.h"
#include "sampler/languages/python.h"
#include "sampler/languages/runtimes.h"

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

/* Frames of Python that were read with a sample come before it, in a record of their own. The
 * two have not quite the same time. */
enum { PYTHON_SETS = 64, PYTHON_WAYS = 4, PYTHON_APART_NS = 200000 };

struct cn_unwound_python {
    uint32_t tid; /* 0: they were used */
    uint64_t time_ns;
    struct cn_python_frame *frames;
    size_t count, capacity;
};

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
    bool has_python;    /* its frames are read in the kernel */
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
    for (size_t i = 0; stacks->pythons && i < PYTHON_SETS * PYTHON_WAYS; i++)
        free(stacks->pythons[i].frames);
    free(stacks->pythons);
    free(stacks->processes);
    free(stacks->memory);
    cn_map_done(&stacks->process_of);
    cn_unwinder_free(stacks->unwinder);
    cn_names_done(&stacks->hints);
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
    if (process->has_python)
        cn_kernel_remove_python(stacks->kernel, process->pid);
    process->has_python = false;
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
    if (process->languages && process->published > 0 && !process->has_python)
        end_epoch(stacks, process);
    cn_text_done(&inside);
}

void cn_unwound_hint(struct cn_unwound *stacks)
{
    for (size_t i = 0; i < stacks->count; i++)
        cn_languages_hint(stacks->processes[i].languages, &stacks->hints);
}

static void forget_languages(struct cn_unwound *stacks,
                             struct cn_unwound_process *process)
{
    cn_languages_hint(process->languages, &stacks->hints);
    cn_languages_free(process->languages);
    process->languages = NULL;
}

static void forget(struct cn_unwound *stacks, struct cn_unwound_process *process)
{
    cn_unwind_space_free(process->space);
    process->space = NULL;
    forget_languages(stacks, process);
}

static void exec_task(struct cn_unwound *stacks, struct cn_bytes record)
{
    struct cn_unwound_process *process =
        process_at(stacks, cn_u32_get(record.ptr + PID_OFF));

    end_epoch(stacks, process);
    cn_unwind_space_clear(process->space);
    forget_languages(stacks, process);
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
    forget(stacks, process);
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
    forget(stacks, process);
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

static struct cn_unwound_python *pythons_of(struct cn_unwound *stacks, uint32_t tid)
{
    return &stacks->pythons[(size_t)(tid % PYTHON_SETS) * PYTHON_WAYS];
}

void cn_unwound_take_python(struct cn_unwound *stacks, struct cn_bytes record)
{
    const size_t len = CN_KERNEL_PYTHON_WORDS * sizeof(uint64_t);
    struct cn_kernel_record head;
    struct cn_bytes bytes;

    if (!cn_bytes_take(&record, sizeof(head), &bytes))
        return;
    memcpy(&head, bytes.ptr, sizeof(head));
    if (!stacks->pythons)
        stacks->pythons = cn_alloc(PYTHON_SETS * PYTHON_WAYS, sizeof(*stacks->pythons));
    struct cn_unwound_python *set = pythons_of(stacks, head.tid), *python = set;
    for (size_t i = 1; i < PYTHON_WAYS; i++)
        if (set[i].time_ns < python->time_ns)
            python = &set[i];
    size_t count = record.len / len;
    count = count < CN_KERNEL_PYTHON_FRAMES_MAX ? count : CN_KERNEL_PYTHON_FRAMES_MAX;
    python->tid = head.tid;
    python->time_ns = head.time_ns;
    python->count = count;
    CN_GROW_TO(python->frames, count, python->capacity);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *words = record.ptr + len * i;

        python->frames[i] = (struct cn_python_frame){
            .code = cn_u64_get(words) & ~(uint64_t)CN_KERNEL_PYTHON_TAGS,
            .instruction = cn_u64_get(words + 8),
            .sum = cn_u64_get(words + 16),
            .is_first = cn_u64_get(words) & CN_KERNEL_PYTHON_FIRST,
        };
    }
}

static uint64_t apart_ns(const struct cn_unwound_python *python,
                         const struct cn_unwound_task *task)
{
    if (python->tid != task->tid)
        return UINT64_MAX;
    return python->time_ns > task->time_ns ? python->time_ns - task->time_ns
                                           : task->time_ns - python->time_ns;
}

/* With the frames that were read at the same moment, which are used once. */
static size_t finish(struct cn_unwound *stacks, struct cn_unwound_process *process,
                     const struct cn_unwound_task *task, bool is_whole, uint64_t *chain,
                     size_t count, size_t most)
{
    struct cn_language_sample sample = {.tid = task->tid, .is_whole = is_whole};
    struct cn_unwound_python *python =
        stacks->pythons ? pythons_of(stacks, task->tid) : NULL;

    for (size_t i = 1; python && i < PYTHON_WAYS; i++)
        if (apart_ns(pythons_of(stacks, task->tid) + i, task) < apart_ns(python, task))
            python = pythons_of(stacks, task->tid) + i;
    if (python && apart_ns(python, task) <= PYTHON_APART_NS) {
        sample.has_python = true;
        sample.python = python->frames;
        sample.python_count = python->count;
        python->tid = 0;
    }
    return cn_languages_finish(process->languages, &sample, chain, count, most);
}

size_t cn_unwound_finish(struct cn_unwound *stacks, const struct cn_unwound_task *task,
                         bool is_whole, uint64_t *chain, size_t count, size_t most)
{
    struct cn_unwound_process *process = process_at(stacks, task->pid);

    if (!process->languages)
        return count;
    cn_memory_begin(stacks->memory, (pid_t)task->pid, LANGUAGE_BYTES_MAX);
    return finish(stacks, process, task, is_whole, chain, count, most);
}

size_t cn_unwound_unwind(struct cn_unwound *stacks, const struct cn_unwound_task *task,
                         const struct cn_unwind_registers *registers,
                         struct cn_bytes stack, uint64_t *out, size_t most)
{
    enum cn_unwind_end end = CN_UNWIND_BAD;
    uint64_t stack_begin = registers->machine == CN_UNWIND_X86_64
                               ? registers->value[CN_UNWIND_X86_RSP]
                               : registers->value[CN_UNWIND_ARM_SP];
    struct cn_unwound_process *process = process_at(stacks, task->pid);
    struct cn_unwind_space *space = process->space;

    process->is_copied = true;
    cn_memory_begin(stacks->memory, (pid_t)task->pid,
                    process->languages ? LANGUAGE_BYTES_MAX : MEMORY_BYTES_MAX);
    cn_unwind_space_set_memory(space, read_memory, stacks->memory);
    cn_unwind_space_set_foreign(space, process->languages ? cn_languages_undo : NULL,
                                process->languages);
    size_t count = cn_unwind(space, registers, stack_begin, stack, out, most, &end);
    cn_unwind_space_set_memory(space, NULL, NULL);
    stacks->ends[end]++;
    return process->languages
               ? finish(stacks, process, task, end == CN_UNWIND_WHOLE, out, count, most)
               : count;
}

/* Let the kernel read the frames of Python. False if stacks must still be copied: other languages
 * are found in copies alone. */
static bool publish_python(struct cn_unwound *stacks, struct cn_unwound_process *process)
{
    struct cn_python *python = cn_languages_find(process->languages, &cn_language_python);
    const struct cn_python_layout *l = NULL;
    uint64_t runtime;

    if (process->has_python)
        return cn_languages_count(process->languages) == 1;
    if (python) {
        cn_memory_begin(stacks->memory, (pid_t)process->pid, LANGUAGE_BYTES_MAX);
        l = cn_python_layout(python, &runtime);
    }
    if (!l)
        return cn_languages_count(process->languages) == 0;
    struct cn_kernel_python described = {
        .interpreters = runtime + l->runtime_interpreters,
        .interpreter_next = l->interpreter_next,
        .interpreter_threads = l->interpreter_threads,
        .thread_next = l->thread_next,
        .thread_interpreter = l->thread_interpreter,
        .thread_frame = l->thread_frame,
        .thread_id = l->thread_native_id > 0 ? l->thread_native_id : l->thread_id,
        .tid_off = l->thread_native_id > 0 ? 0 : cn_python_tid_off(),
        .has_cframe = l->has_cframe,
        .cframe_frame = l->cframe_frame,
        .frame_previous = l->frame_previous,
        .frame_code = l->frame_code,
        .frame_instruction = l->frame_instruction,
        .frame_entry = l->frame_entry,
        .entry = (uint32_t)l->entry,
        .code_name = l->code_name,
        .code_lines = l->code_lines,
    };
    uint32_t offsets[] = {l->frame_previous, l->frame_code, l->frame_instruction,
                          l->frame_entry};
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
        if (offsets[i] + 8 > described.frame_len)
            described.frame_len = offsets[i] + 8;
    if (described.frame_len > CN_KERNEL_PYTHON_FRAME_LEN)
        return false;
    cn_kernel_put_python(stacks->kernel, process->pid, &described);
    process->has_python = true;
    return cn_languages_count(process->languages) == 1;
}

void cn_unwound_publish(struct cn_unwound *stacks)
{
    for (size_t i = 0; stacks->kernel && i < stacks->count; i++) {
        struct cn_unwound_process *process = &stacks->processes[i];

        if (!process->space)
            continue;
        /* Python begins with many short calls: its frames shall be read from the first on. */
        bool is_ready = !process->languages || publish_python(stacks, process);
        if (!process->is_copied || !is_ready)
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
