#include "sampler/collect.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/bytes/record.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "sampler/gpu.h"
#include "sampler/kernel/kernel.h"
#include "sampler/kernel/shared.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/languages.h"
#include "sampler/timers.h"

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

/* After so many copies, the kernel is told what it lacks to unwind stacks itself. */
enum { PUBLISH_EVERY = 64 };

/* Of stacks that are read on after the end of their copies. On aarch64 the kernel copies 64 bytes at
 * once, and ends before those that it can not copy. */
enum {
    PAGE_LEN = 4096,
    LONGER_LEN_MAX = 1 << 16,
    LONGER_SAME_LEN = 256,
    COPIED_LEN_MAX = 64,
};

/* Frames of an interpreter that were read with a sample come before it, in a record of their own.
 * The two have not quite the same time. */
enum { FRAMES_SETS = 64, FRAMES_WAYS = 4, FRAMES_APART_NS = 200000 };

struct cn_unwound_frames {
    uint32_t tid; /* 0: they were used */
    uint64_t time_ns;
    struct cn_frames_found found;
    uint64_t *words;
    size_t capacity;
};

struct cn_unwound_process {
    uint32_t pid;
    uint32_t thread_count;
    struct cn_unwind_space *space;  /* NULL: it has ended */
    struct cn_languages *languages; /* run-times; NULL: none */
    /* What the kernel knows. An epoch ends when mappings are replaced: what was unwound with
     * older ones may be wrong. */
    uint64_t epoch;
    uint64_t published;          /* version of the space; 0: nothing */
    bool is_copied;              /* a stack was copied since then */
    bool has_table;              /* its frames are read in the kernel */
    bool is_described;           /* all of them */
    struct cn_frame_table table; /* that the kernel has */
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
    for (size_t i = 0; stacks->frames && i < FRAMES_SETS * FRAMES_WAYS; i++)
        free(stacks->frames[i].words);
    free(stacks->frames);
    free(stacks->longer);
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

/* Let frames of a process be read at the sample; NULL: no more. */
static void put_table(struct cn_unwound *stacks, uint32_t pid,
                      const struct cn_frame_table *table)
{
    if (stacks->gpu)
        cn_sample_gpu_put_table(stacks->gpu, pid, table);
    if (stacks->timers)
        cn_timers_put_table(stacks->timers, pid, table);
    if (stacks->kernel && table)
        cn_kernel_put_interpreter(stacks->kernel, pid, table);
    else if (stacks->kernel)
        cn_kernel_remove_interpreter(stacks->kernel, pid);
}

/* The mappings that the kernel knows are no longer those of the process. */
static void end_epoch(struct cn_unwound *stacks, struct cn_unwound_process *process)
{
    if (process->published > 0)
        cn_kernel_remove_process(stacks->kernel, process->pid);
    if (process->has_table)
        put_table(stacks, process->pid, NULL);
    process->has_table = process->is_described = false;
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
        .pid = pid,
        .begin = begin,
        .end = end,
        .file_off = cn_u64_get(record.ptr + FILE_OFF),
        .path = path,
    };
    note_mapping(stacks, process, begin, end);
    cn_unwind_space_map(process->space, begin, end, mapping.file_off, path, build_id);
    if (begin < end && path[0] == '/') {
        cn_languages_map(&process->languages, &mapping, stacks->memory, stacks->names);
        process->is_described = false;
    }
    /* Frames of languages are found here alone. */
    if (process->languages && process->published > 0 && !process->has_table)
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

    stacks->exec_ns = cn_clock_ns();
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

static struct cn_unwound_frames *frames_of(struct cn_unwound *stacks, uint32_t tid)
{
    return &stacks->frames[(size_t)(tid % FRAMES_SETS) * FRAMES_WAYS];
}

void cn_unwound_take_frames(struct cn_unwound *stacks, struct cn_bytes record)
{
    struct cn_kernel_record head;
    struct cn_frames_found found;
    struct cn_bytes bytes;

    if (!cn_bytes_take(&record, sizeof(head), &bytes))
        return;
    memcpy(&head, bytes.ptr, sizeof(head));
    if (!cn_bytes_take(&record, sizeof(found), &bytes))
        return;
    memcpy(&found, bytes.ptr, sizeof(found));
    if (found.word_count > CN_FRAME_WORDS_MAX || found.head_len > found.word_count ||
        !cn_bytes_take(&record, found.word_count * sizeof(uint64_t), &bytes))
        return;
    if (!stacks->frames)
        stacks->frames = cn_alloc(FRAMES_SETS * FRAMES_WAYS, sizeof(*stacks->frames));
    struct cn_unwound_frames *set = frames_of(stacks, head.tid), *frames = set;
    for (size_t i = 1; i < FRAMES_WAYS; i++)
        if (set[i].time_ns < frames->time_ns)
            frames = &set[i];
    frames->tid = head.tid;
    frames->time_ns = head.time_ns;
    frames->found = found;
    CN_GROW_TO(frames->words, found.word_count, frames->capacity);
    if (bytes.len > 0)
        memcpy(frames->words, bytes.ptr, bytes.len);
}

void cn_unwound_take_object(struct cn_unwound *stacks, uint32_t pid,
                            struct cn_bytes copies)
{
    struct cn_unwound_process *process = process_at(stacks, pid);
    struct cn_bytes address;

    if (!process->languages || !cn_bytes_take(&copies, sizeof(uint64_t), &address))
        return;
    cn_memory_begin_copies(stacks->memory, (pid_t)pid, copies);
    cn_languages_learn(process->languages, cn_u64_get(address.ptr));
}

static uint64_t apart_ns(const struct cn_unwound_frames *frames,
                         const struct cn_unwound_task *task)
{
    if (frames->tid != task->tid)
        return UINT64_MAX;
    return frames->time_ns > task->time_ns ? frames->time_ns - task->time_ns
                                           : task->time_ns - frames->time_ns;
}

/* With the frames that were read at the same moment, which are used once. */
static size_t finish(struct cn_unwound *stacks, struct cn_unwound_process *process,
                     const struct cn_unwound_task *task, bool is_whole, uint64_t *chain,
                     size_t count, size_t most)
{
    struct cn_language_sample sample = {
        .tid = task->tid,
        .is_whole = is_whole,
        .has_goroutines = stacks->has_goroutines,
    };
    struct cn_unwound_frames *frames =
        stacks->frames ? frames_of(stacks, task->tid) : NULL;

    for (size_t i = 1; frames && i < FRAMES_WAYS; i++)
        if (apart_ns(frames_of(stacks, task->tid) + i, task) < apart_ns(frames, task))
            frames = frames_of(stacks, task->tid) + i;
    if (frames && apart_ns(frames, task) <= FRAMES_APART_NS) {
        sample.found = &frames->found;
        sample.words = frames->words;
        frames->tid = 0;
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

size_t cn_unwound_name(struct cn_unwound *stacks, const struct cn_unwound_task *task,
                       const struct cn_frames_found *found, const uint64_t *words,
                       uint64_t *chain, size_t count, size_t most)
{
    struct cn_unwound_process *process = process_at(stacks, task->pid);
    struct cn_language_sample sample = {.tid = task->tid, .found = found, .words = words};

    if (!process->languages)
        return count;
    cn_memory_begin(stacks->memory, (pid_t)task->pid, LANGUAGE_BYTES_MAX);
    return cn_languages_finish(process->languages, &sample, chain, count, most);
}

/* The copy of a stack ends at a page that the program never touched, as programs have that reserve
 * much of their stacks. What follows is of outer callers: it is read now, if the end of the copy is
 * as it was. */
static struct cn_bytes lengthen(struct cn_unwound *stacks, uint64_t begin,
                                struct cn_bytes stack)
{
    uint64_t end = begin + stack.len;
    size_t more = (size_t)(-end % PAGE_LEN); /* up to the end of the page */
    size_t same = stack.len < LONGER_SAME_LEN ? stack.len : LONGER_SAME_LEN;
    uint8_t now[LONGER_SAME_LEN];

    if (stack.len == 0 || stack.len > LONGER_LEN_MAX || more >= COPIED_LEN_MAX ||
        !cn_memory_read(stacks->memory, end - same, now, same) ||
        memcmp(now, stack.ptr + stack.len - same, same) != 0)
        return stack;
    if (!stacks->longer)
        stacks->longer = cn_alloc(1, 2 * LONGER_LEN_MAX);
    memcpy(stacks->longer, stack.ptr, stack.len);
    size_t len = stack.len;
    for (more += more > 0 ? 0 : PAGE_LEN;
         len - stack.len + more <= LONGER_LEN_MAX &&
         cn_memory_read(stacks->memory, begin + len, stacks->longer + len, more);
         more = PAGE_LEN)
        len += more;
    return (struct cn_bytes){stacks->longer, len};
}

size_t cn_unwound_unwind(struct cn_unwound *stacks, const struct cn_unwound_task *task,
                         const struct cn_unwind_registers *registers,
                         struct cn_bytes stack, uint64_t *out, size_t most)
{
    enum cn_unwind_end end = CN_UNWIND_BAD;
    uint64_t stack_begin = registers->machine == CN_UNWIND_X86_64
                               ? registers->value[CN_UNWIND_X86_RSP]
                               : registers->value[CN_UNWIND_ARM_SP];
    /* The kernel goes on copying meanwhile: a long round would be followed by a longer one. */
    if (++stacks->copied_count % PUBLISH_EVERY == 0)
        cn_unwound_publish(stacks);
    struct cn_unwound_process *process = process_at(stacks, task->pid);
    struct cn_unwind_space *space = process->space;

    process->is_copied = true;
    cn_memory_begin(stacks->memory, (pid_t)task->pid,
                    process->languages ? LANGUAGE_BYTES_MAX : MEMORY_BYTES_MAX);
    cn_unwind_space_set_memory(space, read_memory, stacks->memory);
    cn_unwind_space_set_foreign(space, process->languages ? cn_languages_undo : NULL,
                                process->languages);
    size_t count = cn_unwind(space, registers, stack_begin, stack, out, most, &end);
    if (end == CN_UNWIND_CUT && count < most) {
        cn_memory_begin(stacks->memory, (pid_t)task->pid, LANGUAGE_BYTES_MAX);
        struct cn_bytes longer = lengthen(stacks, stack_begin, stack);
        if (longer.len > stack.len)
            count = cn_unwind(space, registers, stack_begin, longer, out, most, &end);
    }
    cn_unwind_space_set_memory(space, NULL, NULL);
    stacks->ends[end]++;
    return process->languages
               ? finish(stacks, process, task, end == CN_UNWIND_WHOLE, out, count, most)
               : count;
}

/* Let the kernel read the frames of an interpreter. False if stacks must still be copied: other
 * languages are found in copies alone. */
static bool publish_table(struct cn_unwound *stacks, struct cn_unwound_process *process)
{
    struct cn_frame_table table;

    if (process->is_described && !cn_languages_is_stale(process->languages))
        return true;
    cn_memory_begin(stacks->memory, (pid_t)process->pid, LANGUAGE_BYTES_MAX);
    bool was_there = process->has_table;
    process->is_described =
        cn_languages_describe(process->languages, &table, &process->has_table);
    if (process->has_table &&
        (!was_there || memcmp(&table, &process->table, sizeof(table)) != 0)) {
        process->table = table;
        put_table(stacks, process->pid, &table);
    }
    return process->is_described;
}

void cn_unwound_publish(struct cn_unwound *stacks)
{
    bool has_readers = stacks->kernel || stacks->timers || stacks->gpu;

    for (size_t i = 0; has_readers && i < stacks->count; i++) {
        struct cn_unwound_process *process = &stacks->processes[i];

        if (!process->space)
            continue;
        /* Programs begin with many short calls: frames shall be read from the first on. */
        bool is_ready = !process->languages || publish_table(stacks, process);
        if (!process->is_copied || !is_ready || !stacks->kernel)
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
