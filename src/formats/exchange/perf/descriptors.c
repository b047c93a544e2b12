#include "formats/exchange/perf/descriptors.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/contexts/context.h"

#define WALKED_MAX (UINT64_C(1) << 28)

/* Of the path of a file, with its directory. */
enum { PATH_LEN_MAX = 4096 };

struct descriptor_entry {
    int32_t descriptor;
    uint32_t opening;
    uint64_t since_ns; /* of this descriptor, a copy maybe */
    bool is_closed_by_exec;
};

struct cn_perf_open_process {
    struct descriptor_entry *list;
    size_t count, capacity;
    uint32_t directory; /* name; CN_NONE: unknown */
};

void cn_perf_descriptors_done(struct cn_perf_descriptors *all)
{
    for (size_t i = 0; i < all->process_count; i++)
        free(all->processes[i].list);
    free(all->processes);
    free(all->openings);
    cn_map_done(&all->process_of);
    cn_map_done(&all->entry_of);
    cn_names_done(&all->names);
    *all = (struct cn_perf_descriptors){0};
}

void cn_perf_descriptors_forget(struct cn_perf_descriptors *all)
{
    for (size_t i = 0; i < all->process_count; i++)
        free(all->processes[i].list);
    all->process_count = 0;
    cn_map_done(&all->process_of);
    cn_map_done(&all->entry_of);
}

static struct cn_perf_open_process *process_at(struct cn_perf_descriptors *all,
                                               uint32_t pid)
{
    uint32_t at = *cn_map_at(&all->process_of, pid, (uint32_t)all->process_count);

    if (at == all->process_count) {
        CN_PUSH(all->processes, all->process_count, all->process_capacity,
                (struct cn_perf_open_process){.directory = CN_NONE});
    }
    return &all->processes[at];
}

static uint64_t key_of(const struct cn_perf_descriptors *all,
                       const struct cn_perf_open_process *process, int32_t descriptor)
{
    return (uint64_t)(process - all->processes) << 32 | (uint32_t)descriptor;
}

static struct descriptor_entry *find(const struct cn_perf_descriptors *all,
                                     const struct cn_perf_open_process *process,
                                     int32_t descriptor)
{
    uint32_t at = cn_map_find(&all->entry_of, key_of(all, process, descriptor), 0);

    return at == 0 ? NULL : &process->list[at - 1];
}

/* The last one takes its place. */
static void remove_entry(struct cn_perf_descriptors *all,
                         struct cn_perf_open_process *process, size_t index)
{
    struct descriptor_entry last = process->list[--process->count];
    int32_t removed = process->list[index].descriptor;

    process->list[index] = last;
    *cn_map_at(&all->entry_of, key_of(all, process, last.descriptor), 0) =
        (uint32_t)index + 1;
    *cn_map_at(&all->entry_of, key_of(all, process, removed), 0) = 0;
}

static void put(struct cn_perf_descriptors *all, struct cn_perf_open_process *process,
                const struct descriptor_entry *entry)
{
    struct descriptor_entry *known = find(all, process, entry->descriptor);

    if (known) {
        *known = *entry;
        return;
    }
    CN_PUSH(process->list, process->count, process->capacity, *entry);
    *cn_map_at(&all->entry_of, key_of(all, process, entry->descriptor), 0) =
        (uint32_t)process->count;
}

/* False if walking over that many entries would be too much. */
static bool may_walk(struct cn_perf_descriptors *all, size_t count)
{
    all->walked_count += count;
    if (all->walked_count > WALKED_MAX)
        cn_perf_descriptors_forget(all);
    return all->walked_count <= WALKED_MAX;
}

void cn_perf_descriptors_fork(struct cn_perf_descriptors *all, uint32_t parent,
                              uint32_t child)
{
    struct cn_perf_open_process *to;
    size_t from;

    if (parent == child)
        return;
    /* The list may move. */
    from = (size_t)(process_at(all, parent) - all->processes);
    to = process_at(all, child);
    if (!may_walk(all, to->count + all->processes[from].count))
        return;
    while (to->count > 0)
        remove_entry(all, to, to->count - 1);
    to->directory = all->processes[from].directory;
    for (size_t i = 0; i < all->processes[from].count; i++)
        put(all, to, &all->processes[from].list[i]);
}

void cn_perf_descriptors_exec(struct cn_perf_descriptors *all, uint32_t pid)
{
    struct cn_perf_open_process *process = process_at(all, pid);

    if (!may_walk(all, process->count))
        return;
    for (size_t i = process->count; i-- > 0;)
        if (process->list[i].is_closed_by_exec)
            remove_entry(all, process, i);
}

static void put_opened(struct cn_perf_descriptors *all,
                       const struct cn_perf_opened *opened, uint32_t opening)
{
    put(all, process_at(all, opened->pid),
        &(struct descriptor_entry){opened->descriptor, opening, opened->time_ns,
                                   opened->is_closed_by_exec});
}

uint32_t cn_perf_descriptors_open(struct cn_perf_descriptors *all,
                                  const struct cn_perf_opened *opened)
{
    CN_PUSH(all->openings, all->opening_count, all->opening_capacity,
            (struct cn_perf_opening){opened->name, opened->time_ns});
    put_opened(all, opened, (uint32_t)all->opening_count);
    return (uint32_t)all->opening_count;
}

void cn_perf_descriptors_copy(struct cn_perf_descriptors *all, int32_t from,
                              const struct cn_perf_opened *to)
{
    put_opened(all, to, cn_perf_descriptors_use(all, to->pid, from, to->time_ns));
}

void cn_perf_descriptors_set_closed(struct cn_perf_descriptors *all, uint32_t pid,
                                    int32_t descriptor, bool is_closed_by_exec)
{
    struct descriptor_entry *entry = find(all, process_at(all, pid), descriptor);

    if (entry)
        entry->is_closed_by_exec = is_closed_by_exec;
}

uint32_t cn_perf_descriptors_connect(struct cn_perf_descriptors *all,
                                     const struct cn_perf_opened *peer)
{
    const struct descriptor_entry *entry =
        find(all, process_at(all, peer->pid), peer->descriptor);
    struct cn_perf_opened opened = *peer;

    opened.is_closed_by_exec = entry ? entry->is_closed_by_exec : true;
    return cn_perf_descriptors_open(all, &opened);
}

void cn_perf_descriptors_found(struct cn_perf_descriptors *all,
                               const struct cn_perf_opened *found, uint64_t since_ns)
{
    struct descriptor_entry *entry =
        find(all, process_at(all, found->pid), found->descriptor);

    if (!entry) {
        (void)cn_perf_descriptors_open(all, found);
        return;
    }
    struct cn_perf_opening *opening = &all->openings[entry->opening - 1];
    if (opening->name != CN_NONE || entry->since_ns > since_ns ||
        opening->since_ns > since_ns)
        return;
    opening->name = found->name;
    entry->is_closed_by_exec = found->is_closed_by_exec;
}

void cn_perf_descriptors_call(struct cn_perf_descriptors *all, uint32_t opening,
                              uint32_t name)
{
    if (opening > 0 && all->openings[opening - 1].name == CN_NONE)
        all->openings[opening - 1].name = name;
}

void cn_perf_descriptors_close(struct cn_perf_descriptors *all, uint32_t pid,
                               uint64_t first, uint64_t last)
{
    struct cn_perf_open_process *process = process_at(all, pid);
    const struct descriptor_entry *entry;

    if (first == last) {
        entry = first <= INT32_MAX ? find(all, process, (int32_t)first) : NULL;
        if (entry)
            remove_entry(all, process, (size_t)(entry - process->list));
        return;
    }
    if (!may_walk(all, process->count))
        return;
    for (size_t i = process->count; i-- > 0;)
        if ((uint64_t)process->list[i].descriptor >= first &&
            (uint64_t)process->list[i].descriptor <= last)
            remove_entry(all, process, i);
}

uint32_t cn_perf_descriptors_use(struct cn_perf_descriptors *all, uint32_t pid,
                                 int32_t descriptor, uint64_t time_ns)
{
    const struct descriptor_entry *entry = find(all, process_at(all, pid), descriptor);

    return entry ? entry->opening
                 : cn_perf_descriptors_open(
                       all,
                       &(struct cn_perf_opened){pid, descriptor, CN_NONE, true, time_ns});
}

uint32_t cn_perf_descriptors_name(const struct cn_perf_descriptors *all, uint32_t opening)
{
    return opening == 0 ? CN_NONE : all->openings[opening - 1].name;
}

void cn_perf_descriptors_enter(struct cn_perf_descriptors *all, uint32_t pid,
                               uint32_t name)
{
    process_at(all, pid)->directory = name;
}

uint32_t cn_perf_descriptors_path(struct cn_perf_descriptors *all, uint32_t pid,
                                  const int32_t *directory, const char *path)
{
    const struct cn_perf_open_process *process = process_at(all, pid);
    const struct descriptor_entry *entry =
        directory ? find(all, process, *directory) : NULL;
    uint32_t from = !directory ? process->directory
                    : entry    ? cn_perf_descriptors_name(all, entry->opening)
                               : CN_NONE;
    struct cn_text text = {0};

    while (strncmp(path, "./", 2) == 0)
        path += 2;
    if (path[0] == '/' || from == CN_NONE || all->names.list[from][0] != '/' ||
        strlen(all->names.list[from]) + strlen(path) > PATH_LEN_MAX)
        return cn_names_add(&all->names, path);
    cn_text_str_add(&text, all->names.list[from]);
    if (path[0] && strcmp(path, ".") != 0)
        cn_text_printf(&text, "%s%s", text.chars[text.len - 1] == '/' ? "" : "/", path);
    uint32_t name = cn_names_add(&all->names, cn_text_str(&text));
    cn_text_done(&text);
    return name;
}
