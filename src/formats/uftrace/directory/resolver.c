#include "formats/uftrace/directory/resolver.h"

#include <string.h>

/* Symbols overlap now and then: how many before the nearest one are looked at. */
enum { OVERLAP_MAX = 16 };

uint32_t cn_uft_find_symbol(const struct cn_uft_directory *dir, uint32_t module,
                            uint64_t offset)
{
    const struct cn_call_module *m = &dir->modules[module];
    const struct cn_call_function *functions = dir->functions + m->first_function;
    size_t low = 0, high = m->function_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (functions[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t tried = 0; low > 0 && tried < OVERLAP_MAX; tried++) {
        const struct cn_call_function *f = &functions[--low];

        if (offset - f->offset < f->size || f->offset == offset)
            return m->first_function + (uint32_t)low;
    }
    return CN_NONE;
}

static const struct cn_mapping *find_mapping(const struct cn_session *session,
                                             size_t count, uint64_t address)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (session->mappings[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= session->mappings[low - 1].end)
        return NULL;
    return &session->mappings[low - 1];
}

static uint32_t find_in(const struct cn_uft_directory *dir,
                        const struct cn_session *session, size_t map_count,
                        size_t load_count, uint64_t address)
{
    const struct cn_mapping *mapping;

    /* There is no word of libraries being closed, so what was loaded last wins. */
    for (size_t i = map_count + load_count; i-- > map_count;) {
        mapping = &session->mappings[i];
        if (address >= mapping->begin && address < mapping->end)
            return cn_uft_find_symbol(dir, mapping->module, address - mapping->begin);
    }
    mapping = find_mapping(session, map_count, address);
    return mapping ? cn_uft_find_symbol(dir, mapping->module, address - mapping->begin)
                   : CN_NONE;
}

/* The index of the session at a time; 0 before the first one. */
static size_t session_index(const struct cn_task *task, uint64_t time_ns)
{
    size_t low = 0, high = task->session_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (task->sessions[middle].from_ns <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Count what has been loaded by now, and narrow the time to that before the next
 * load. */
static void follow_loads(struct cn_uft_resolver *resolver, uint64_t time_ns,
                         uint64_t *begin_ns, uint64_t *last_ns)
{
    const struct cn_mapping *loads = resolver->session->mappings + resolver->map_count;
    size_t low = 0, high = resolver->session->mapping_count - resolver->map_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (loads[middle].time_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    resolver->load_count = low;
    if (low > 0 && loads[low - 1].time_ns > *begin_ns)
        *begin_ns = loads[low - 1].time_ns;
    if (low < resolver->session->mapping_count - resolver->map_count &&
        loads[low].time_ns - 1 < *last_ns)
        *last_ns = loads[low].time_ns - 1;
}

void cn_uft_resolver_move(struct cn_uft_resolver *resolver, uint64_t time_ns)
{
    const struct cn_uft_directory *dir = resolver->dir;
    const struct cn_task *task = &dir->tasks[resolver->task];
    uint64_t begin_ns = 0, last_ns = UINT64_MAX;
    size_t at;
    uint32_t session;

    memset(resolver->cache, 0, sizeof(resolver->cache));
    resolver->begin_ns = 0;
    resolver->span_ns = UINT64_MAX;
    resolver->session = NULL;
    if (task->session_count == 0)
        return;
    at = session_index(task, time_ns);
    session = task->sessions[at].session;
    if (at > 0)
        begin_ns = task->sessions[at].from_ns;
    if (at + 1 < task->session_count)
        last_ns = task->sessions[at + 1].from_ns - 1;
    resolver->session = &dir->sessions[session];
    resolver->map_count = dir->map_counts[session];
    follow_loads(resolver, time_ns, &begin_ns, &last_ns);
    resolver->begin_ns = begin_ns;
    resolver->span_ns = last_ns - begin_ns;
}

void cn_uft_resolver_init(struct cn_uft_resolver *resolver,
                          const struct cn_uft_directory *dir, uint32_t task)
{
    resolver->dir = dir;
    resolver->task = task;
    cn_uft_resolver_move(resolver, 0);
}

uint32_t cn_uft_resolver_miss(struct cn_uft_resolver *resolver, uint64_t address)
{
    uint64_t mix = cn_uft_address_mix(address);
    uint64_t *set = resolver->cache[mix >> CN_UFT_TAG_BITS];
    uint32_t function = CN_NONE;

    if (resolver->session)
        function = find_in(resolver->dir, resolver->session, resolver->map_count,
                           resolver->load_count, address);
    set[1] = set[0];
    set[0] = mix << CN_UFT_FUNCTION_BITS |
             (function == CN_NONE ? CN_UFT_FUNCTION_MASK : function + 1);
    return function;
}

uint32_t cn_uft_find_function(const struct cn_recording *rec, uint32_t task,
                              uint64_t time_ns, uint64_t address)
{
    const struct cn_uft_directory *dir = cn_uft_directory_of(rec);
    const struct cn_session *session = cn_recording_session_at(rec, task, time_ns);
    size_t map_count, load_count = 0;

    if (!session)
        return CN_NONE;
    map_count = dir->map_counts[session - dir->sessions];
    while (map_count + load_count < session->mapping_count &&
           session->mappings[map_count + load_count].time_ns <= time_ns)
        load_count++;
    return find_in(dir, session, map_count, load_count, address);
}
