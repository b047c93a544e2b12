#include "formats/uftrace/directory/resolver.h"

#include <string.h>

#include "base/search.h"

/* Symbols may overlap: how many before the nearest one to try. */
enum { OVERLAP_MAX = 16 };

uint32_t cn_uft_find_symbol(const struct cn_uft_directory *dir, uint32_t module,
                            uint64_t offset)
{
    const struct cn_call_module *m = &dir->modules[module];
    const struct cn_call_function *functions;
    size_t at;

    if (m->function_count == 0)
        return CN_NONE;
    functions = dir->functions + m->first_function;
    at = cn_search_u64(&functions->offset, m->function_count, sizeof(*functions), offset);
    for (size_t tried = 0; at > 0 && tried < OVERLAP_MAX; tried++) {
        const struct cn_call_function *f = &functions[--at];

        if (offset - f->offset < f->size || f->offset == offset)
            return m->first_function + (uint32_t)at;
    }
    return CN_NONE;
}

static uint32_t find_in(const struct cn_uft_directory *dir,
                        const struct cn_session *session, size_t map_count,
                        size_t load_count, uint64_t address)
{
    const struct cn_mapping *mapping;

    /* Recordings do not contain calls of dlclose(), so the last library wins. */
    for (size_t i = map_count + load_count; i-- > map_count;) {
        mapping = &session->mappings[i];
        if (address >= mapping->begin && address < mapping->end)
            return cn_uft_find_symbol(dir, mapping->module, address - mapping->begin);
    }
    if (map_count == 0)
        return CN_NONE;
    size_t at = cn_search_u64(&session->mappings->begin, map_count,
                              sizeof(*session->mappings), address);
    if (at == 0 || address >= session->mappings[at - 1].end)
        return CN_NONE;
    mapping = &session->mappings[at - 1];
    return cn_uft_find_symbol(dir, mapping->module, address - mapping->begin);
}

/* Count the libraries loaded until `time_ns`, and limit the time range to that between
 * two loads. */
static void follow_loads(struct cn_uft_resolver *resolver, uint64_t time_ns,
                         uint64_t *begin_ns, uint64_t *last_ns)
{
    size_t all = resolver->session->mapping_count - resolver->map_count, count;

    resolver->load_count = 0;
    if (all == 0)
        return;
    const struct cn_mapping *loads = resolver->session->mappings + resolver->map_count;
    count = cn_search_u64(&loads->time_ns, all, sizeof(*loads), time_ns);
    resolver->load_count = count;
    if (count > 0 && loads[count - 1].time_ns > *begin_ns)
        *begin_ns = loads[count - 1].time_ns;
    if (count < all && loads[count].time_ns - 1 < *last_ns)
        *last_ns = loads[count].time_ns - 1;
}

void cn_uft_resolver_move(struct cn_uft_resolver *resolver, uint64_t time_ns)
{
    const struct cn_uft_directory *dir = resolver->dir;
    const struct cn_task *task = &dir->tasks[resolver->task];
    uint64_t begin_ns = 0, last_ns = UINT64_MAX;
    size_t at;

    memset(resolver->cache, 0, sizeof(resolver->cache));
    resolver->begin_ns = 0;
    resolver->span_ns = UINT64_MAX;
    resolver->session = NULL;
    if (task->session_count == 0)
        return;
    at = cn_search_u64(&task->sessions->from_ns, task->session_count,
                       sizeof(*task->sessions), time_ns);
    at -= at > 0; /* the first session also applies before its start */
    uint32_t session = task->sessions[at].session;
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
