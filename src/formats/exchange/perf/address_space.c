#include "formats/exchange/perf/address_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/path.h"
#include "base/text.h"
#include "symbols/kernel.h"

enum {
    BEGIN_OFF = 8,
    LEN_OFF = 16,
    FILE_OFF = 24,
    BUILD_ID_OFF = 32,
    NAME_OFF = 32, /* of MMAP */
    PROTECTION_OFF = 56,
    NAME2_OFF = 64, /* of MMAP2 */
    PROTECTION_EXECUTE = 4,
};

static struct cn_unwind_space *new_space(struct cn_perf_spaces *spaces)
{
    if (!spaces->unwinder)
        spaces->unwinder = cn_unwinder_new();
    return cn_unwind_space_new(spaces->unwinder);
}

struct cn_perf_process *cn_perf_process_at(struct cn_perf_spaces *spaces, uint32_t pid)
{
    uint32_t at = *cn_map_at(&spaces->process_of, pid, (uint32_t)spaces->count);

    if (at == spaces->count) {
        CN_PUSH(spaces->processes, spaces->count, spaces->capacity,
                (struct cn_perf_process){.space = new_space(spaces),
                                         .memory = spaces->has_memory ? new_space(spaces)
                                                                      : NULL,
                                         .generation = ++spaces->next_generation});
    }
    return &spaces->processes[at];
}

/* The build-id in the record, or the one in the file's list. */
static void add_build_id(struct cn_text *out, const struct cn_perf_file *file,
                         const struct cn_perf_record *record, const char *path)
{
    struct cn_bytes id;

    if (record->head.type != CN_PERF_MMAP2 ||
        !(record->head.misc & CN_PERF_MISC_MMAP_BUILD_ID) ||
        record->body.ptr[BUILD_ID_OFF] > CN_PERF_BUILD_ID_MAX ||
        !cn_bytes_slice(record->body, BUILD_ID_OFF + 4, record->body.ptr[BUILD_ID_OFF],
                        &id))
        cn_text_str_add(out, cn_perf_build_id(file, path));
    else
        cn_hex_add(out, id.ptr, id.len);
    /* The vDSO is part of the kernel: that of another one is none that is known here. */
    if (out->len == 0 && strcmp(path, "[vdso]") == 0 && file->origin.kernel &&
        !cn_kernel_is_running("", file->origin.kernel))
        cn_text_fill(out, '0', CN_PERF_BUILD_ID_MAX);
}

/* Mappings without code are in files of perf record -d. */
static bool is_code(const struct cn_perf_record *record)
{
    return record->head.type == CN_PERF_MMAP
               ? !(record->head.misc & CN_PERF_MISC_MMAP_DATA)
               : cn_u32_get(record->body.ptr + PROTECTION_OFF) & PROTECTION_EXECUTE;
}

/* ".../jit-PID.dump". */
static bool is_jitdump(const char *path)
{
    return strncmp(cn_path_name(path), "jit-", 4) == 0 && strchr(path, '/') &&
           cn_ends_with(path, ".dump");
}

/* Of all memory, for what is accessed there. */
static void add_memory(struct cn_perf_spaces *spaces, const struct cn_perf_record *record,
                       const char *path)
{
    uint32_t pid = cn_u32_get(record->body.ptr);
    uint64_t begin = cn_u64_get(record->body.ptr + BEGIN_OFF), end;

    if (!spaces->has_memory ||
        (record->head.misc & CN_PERF_MODE_MASK) == CN_PERF_MODE_KERNEL)
        return;
    if (!cn_u64_add(begin, cn_u64_get(record->body.ptr + LEN_OFF), &end))
        end = UINT64_MAX;
    /* The kernel calls the heap so after it has grown alone. */
    if (strcmp(path, "//anon") == 0 || strcmp(path, "[heap]") == 0)
        path = "[anonymous]";
    cn_unwind_space_map(cn_perf_process_at(spaces, pid)->memory, begin, end, 0, path, "");
}

static void add_mapping(struct cn_perf_spaces *spaces, const struct cn_perf_file *file,
                        const struct cn_perf_record *record)
{
    size_t name_off = record->head.type == CN_PERF_MMAP ? NAME_OFF : NAME2_OFF;
    const char *path = cn_bytes_string(record->body, name_off);
    struct cn_text build_id = {0};
    struct cn_unwind_space *space;
    uint64_t begin, end;

    if (!path)
        return;
    add_memory(spaces, record, path);
    if (!is_code(record))
        return;
    uint32_t pid = cn_u32_get(record->body.ptr);
    if (pid == UINT32_MAX ||
        (record->head.misc & CN_PERF_MODE_MASK) == CN_PERF_MODE_KERNEL) {
        if (!spaces->kernel)
            spaces->kernel = new_space(spaces);
        space = spaces->kernel;
    } else {
        struct cn_perf_process *process = cn_perf_process_at(spaces, pid);

        process->generation = ++spaces->next_generation;
        if (is_jitdump(path))
            process->jitdump = cn_arena_strdup(&spaces->arena, path);
        space = process->space;
    }
    begin = cn_u64_get(record->body.ptr + BEGIN_OFF);
    if (!cn_u64_add(begin, cn_u64_get(record->body.ptr + LEN_OFF), &end))
        end = UINT64_MAX;
    add_build_id(&build_id, file, record, path);
    cn_unwind_space_map(space, begin, end, cn_u64_get(record->body.ptr + FILE_OFF), path,
                        cn_text_str(&build_id));
    cn_text_done(&build_id);
}

/* pid, ppid, tid, ptid. A new thread has the mappings of its process. */
static void fork_process(struct cn_perf_spaces *spaces, struct cn_bytes body)
{
    if (body.len < 16)
        return;
    uint32_t pid = cn_u32_get(body.ptr);
    uint32_t parent = cn_u32_get(body.ptr + 4);
    if (pid != parent) {
        struct cn_perf_process copy = *cn_perf_process_at(spaces, parent);
        struct cn_perf_process *process = cn_perf_process_at(spaces, pid);

        copy.space = cn_unwind_space_copy(copy.space);
        copy.memory = copy.memory ? cn_unwind_space_copy(copy.memory) : NULL;
        copy.generation = ++spaces->next_generation;
        cn_unwind_space_free(process->space);
        cn_unwind_space_free(process->memory);
        *process = copy;
    }
}

static void exec_process(struct cn_perf_spaces *spaces, uint32_t pid)
{
    struct cn_perf_process *process = cn_perf_process_at(spaces, pid);

    cn_unwind_space_clear(process->space);
    if (process->memory)
        cn_unwind_space_clear(process->memory);
    process->jitdump = NULL;
    process->generation = ++spaces->next_generation;
}

void cn_perf_spaces_take(struct cn_perf_spaces *spaces, const struct cn_perf_file *file,
                         const struct cn_perf_record *record)
{
    switch (record->head.type) {
    case CN_PERF_MMAP:
    case CN_PERF_MMAP2:
        add_mapping(spaces, file, record);
        break;
    case CN_PERF_FORK:
        fork_process(spaces, record->body);
        break;
    case CN_PERF_COMM:
        if (record->head.misc & CN_PERF_MISC_COMM_EXEC && record->body.len >= 4)
            exec_process(spaces, cn_u32_get(record->body.ptr));
        break;
    default:
        break;
    }
}

void cn_perf_spaces_done(struct cn_perf_spaces *spaces)
{
    for (size_t i = 0; i < spaces->count; i++) {
        cn_unwind_space_free(spaces->processes[i].space);
        cn_unwind_space_free(spaces->processes[i].memory);
    }
    cn_unwind_space_free(spaces->kernel);
    cn_unwinder_free(spaces->unwinder);
    cn_map_done(&spaces->process_of);
    cn_arena_done(&spaces->arena);
    free(spaces->processes);
    *spaces = (struct cn_perf_spaces){0};
}

static const struct cn_unwind_mapping *memory_at(const struct cn_perf_spaces *spaces,
                                                 uint32_t pid, uint64_t address)
{
    const struct cn_perf_process *process = cn_perf_process_find(spaces, pid);

    return process && process->memory ? cn_unwind_space_find(process->memory, address)
                                      : NULL;
}

void cn_perf_spaces_remap(struct cn_perf_spaces *spaces, uint32_t pid, uint64_t from,
                          uint64_t to, uint64_t len)
{
    const struct cn_unwind_mapping *mapping = memory_at(spaces, pid, from);
    uint64_t end;

    if (mapping && cn_u64_add(to, len, &end))
        cn_unwind_space_map(cn_perf_process_at(spaces, pid)->memory, to, end, 0,
                            mapping->path, "");
}

const char *cn_perf_mapped_at(const struct cn_perf_spaces *spaces, uint32_t pid,
                              uint64_t address)
{
    const struct cn_unwind_mapping *mapping = memory_at(spaces, pid, address);

    return mapping ? mapping->path : "[unknown mapping]";
}

const struct cn_perf_process *cn_perf_process_find(const struct cn_perf_spaces *spaces,
                                                   uint32_t pid)
{
    uint32_t at = cn_map_find(&spaces->process_of, pid, UINT32_MAX);

    return at < spaces->count ? &spaces->processes[at] : NULL;
}
