#include "formats/exchange/perf/address_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

enum {
    SEARCHED_MAX = 1 << 14, /* mappings of a process; older ones are not found */
    BEGIN_OFF = 8,
    LEN_OFF = 16,
    FILE_OFF = 24,
    BUILD_ID_OFF = 32,
    NAME_OFF = 32,  /* of MMAP */
    NAME2_OFF = 64, /* of MMAP2 */
};

struct cn_perf_process *cn_perf_process_at(struct cn_perf_spaces *spaces, uint32_t pid)
{
    uint32_t at = *cn_map_at(&spaces->process_of, pid, (uint32_t)spaces->count);

    if (at == spaces->count) {
        spaces->processes = cn_grow(spaces->processes, spaces->count, &spaces->capacity,
                                    sizeof(*spaces->processes));
        spaces->processes[spaces->count++] =
            (struct cn_perf_process){.generation = ++spaces->next_generation};
    }
    return &spaces->processes[at];
}

static void set_mappings(struct cn_perf_spaces *spaces, struct cn_perf_process *process,
                         const struct cn_perf_mapping *mappings)
{
    process->mappings = mappings;
    process->generation = ++spaces->next_generation;
}

static const char *intern(struct cn_perf_spaces *spaces, const char *text)
{
    uint32_t at = cn_names_add(&spaces->strings, text);

    return spaces->strings.list[at];
}

/* The build-id in the record, or the one in the file's list. */
static const char *build_id_of(struct cn_perf_spaces *spaces,
                               const struct cn_perf_file *file,
                               const struct cn_perf_record *record, const char *path)
{
    struct cn_text text = {0};
    struct cn_bytes id;
    const char *interned;

    if (record->head.type != CN_PERF_MMAP2 ||
        !(record->head.misc & CN_PERF_MISC_MMAP_BUILD_ID) ||
        record->body.ptr[BUILD_ID_OFF] > CN_PERF_BUILD_ID_MAX ||
        !cn_bytes_slice(record->body, BUILD_ID_OFF + 4, record->body.ptr[BUILD_ID_OFF],
                        &id))
        return intern(spaces, cn_perf_build_id(file, path));
    cn_perf_hex(&text, id);
    interned = intern(spaces, cn_text_str(&text));
    cn_text_done(&text);
    return interned;
}

/* ".../jit-PID.dump". */
static bool is_jitdump(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = strlen(path);

    return slash && strncmp(slash, "/jit-", 5) == 0 && len > 5 &&
           strcmp(path + len - 5, ".dump") == 0;
}

static void add_mapping(struct cn_perf_spaces *spaces, const struct cn_perf_file *file,
                        const struct cn_perf_record *record)
{
    size_t name_off = record->head.type == CN_PERF_MMAP ? NAME_OFF : NAME2_OFF;
    const char *path = cn_bytes_string(record->body, name_off);
    struct cn_perf_process *process;
    struct cn_perf_mapping *mapping;
    uint32_t pid;

    if (!path)
        return;
    pid = cn_u32_get(record->body.ptr);
    process = pid == UINT32_MAX ||
                      (record->head.misc & CN_PERF_MODE_MASK) == CN_PERF_MODE_KERNEL
                  ? &spaces->kernel
                  : cn_perf_process_at(spaces, pid);
    mapping = cn_arena_alloc(&spaces->arena, 1, sizeof(*mapping));
    *mapping = (struct cn_perf_mapping){
        .older = process->mappings,
        .begin = cn_u64_get(record->body.ptr + BEGIN_OFF),
        .file_off = cn_u64_get(record->body.ptr + FILE_OFF),
        .path = intern(spaces, path),
    };
    if (!cn_u64_add(mapping->begin, cn_u64_get(record->body.ptr + LEN_OFF),
                    &mapping->end))
        mapping->end = UINT64_MAX;
    mapping->build_id = build_id_of(spaces, file, record, path);
    if (is_jitdump(path))
        process->jitdump = mapping->path;
    set_mappings(spaces, process, mapping);
}

/* pid, ppid, tid, ptid. A new thread has the mappings of its process. */
static void fork_process(struct cn_perf_spaces *spaces, struct cn_bytes body)
{
    uint32_t pid, parent;

    if (body.len < 16)
        return;
    pid = cn_u32_get(body.ptr);
    parent = cn_u32_get(body.ptr + 4);
    if (pid != parent) {
        struct cn_perf_process from = *cn_perf_process_at(spaces, parent);
        struct cn_perf_process *child = cn_perf_process_at(spaces, pid);

        child->jitdump = from.jitdump;
        set_mappings(spaces, child, from.mappings);
    }
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
        if (record->head.misc & CN_PERF_MISC_COMM_EXEC && record->body.len >= 4) {
            struct cn_perf_process *process =
                cn_perf_process_at(spaces, cn_u32_get(record->body.ptr));

            process->jitdump = NULL;
            set_mappings(spaces, process, NULL);
        }
        break;
    default:
        break;
    }
}

const struct cn_perf_mapping *cn_perf_find_mapping(const struct cn_perf_process *process,
                                                   uint64_t address)
{
    const struct cn_perf_mapping *mapping = process->mappings;

    for (size_t i = 0; mapping && i < SEARCHED_MAX; i++, mapping = mapping->older)
        if (address >= mapping->begin && address < mapping->end)
            return mapping;
    return NULL;
}

void cn_perf_spaces_done(struct cn_perf_spaces *spaces)
{
    cn_map_done(&spaces->process_of);
    cn_names_done(&spaces->strings);
    cn_arena_done(&spaces->arena);
    free(spaces->processes);
    *spaces = (struct cn_perf_spaces){0};
}
