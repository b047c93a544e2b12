#include "analyze/calls/ids.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { SCHEDULE_KINDS = 2 };

uint32_t cn_call_ids_find(const struct cn_call_ids *ids, const struct cn_recording *rec,
                          uint64_t address)
{
    uint32_t first = rec->function_count + SCHEDULE_KINDS;
    uint32_t id = cn_map_find(&ids->by_address, address, CN_NONE);

    return id == CN_NONE && ids->count == CN_CALL_UNKNOWN_MAX
               ? first + CN_CALL_UNKNOWN_MAX - 1
               : id;
}

uint32_t cn_call_ids_unknown(struct cn_call_ids *ids, const struct cn_recording *rec,
                             uint64_t address)
{
    uint32_t id = cn_call_ids_find(ids, rec, address);

    if (id != CN_NONE)
        return id;
    CN_GROW(ids->addresses, ids->count, ids->capacity);
    id = rec->function_count + SCHEDULE_KINDS + (uint32_t)ids->count;
    ids->addresses[ids->count++] = address;
    return *cn_map_at(&ids->by_address, address, id);
}

uint64_t cn_call_ids_address(const struct cn_call_ids *ids,
                             const struct cn_recording *rec, uint32_t id)
{
    uint32_t first = rec->function_count + SCHEDULE_KINDS;

    return id >= first && id - first < ids->count ? ids->addresses[id - first] : 0;
}

void cn_call_ids_done(struct cn_call_ids *ids)
{
    cn_map_done(&ids->by_address);
    free(ids->addresses);
    *ids = (struct cn_call_ids){0};
}

uint32_t *cn_call_ids_first_of_name(const struct cn_recording *rec)
{
    uint32_t *first = cn_alloc(rec->function_count, sizeof(*first));
    uint32_t *number_of = cn_alloc(rec->function_count, sizeof(*number_of));
    struct cn_names names = {0};
    bool has_equal = false;
    uint32_t module = 0;

    for (uint32_t i = 0; i < rec->function_count; i++) {
        /* Services have no function in common. */
        if (rec->trace_count > 0 && rec->functions[i].module != module) {
            module = rec->functions[i].module;
            cn_names_done(&names);
        }
        size_t known = names.count;
        uint32_t number = cn_names_add(&names, rec->functions[i].name);

        if (number == known)
            number_of[number] = i;
        first[i] = number_of[number];
        has_equal = has_equal || first[i] != i;
    }
    cn_names_done(&names);
    free(number_of);
    if (has_equal)
        return first;
    free(first);
    return NULL;
}
