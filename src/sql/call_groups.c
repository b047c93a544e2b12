#include "sql/call_groups.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls/stack.h"
#include "base/alloc.h"
#include "base/map.h"

enum { FIRST_LEN = 16, LAST_LEN = 1 << 16 }; /* numbers in a chunk */

struct call_chunk {
    struct call_chunk *next;
    size_t count, capacity;
    uint64_t numbers[];
};

struct call_group {
    const char *name; /* NULL: by function */
    bool is_known;
    uint32_t function;
    uint64_t address, call_count;
    struct call_chunk *first, *last;
};

struct cn_call_groups {
    const struct cn_recording *rec;
    bool by_name;
    unsigned kept;
    size_t kept_count;
    uint32_t *group_of;    /* by function, then of the unknown: its group + 1; 0: none */
    struct cn_names names; /* of the groups; unused by function */
    struct call_group *list;
    size_t count, capacity;
    uint64_t len;

    size_t at;                      /* the group that is read, */
    uint64_t read_count;            /* how many calls of it were, */
    const struct call_chunk *chunk; /* and where the next one begins */
    size_t position;
};

size_t cn_call_groups_call_len(unsigned kept)
{
    size_t count = 0;

    for (unsigned i = 0; i < CN_CALL_NUMBER_COUNT; i++)
        count += kept >> i & 1;
    return count * sizeof(uint64_t);
}

struct cn_call_groups *cn_call_groups_new(const struct cn_recording *rec, bool by_name,
                                          unsigned kept)
{
    struct cn_call_groups *groups = cn_alloc(1, sizeof(*groups));

    groups->rec = rec;
    groups->by_name = by_name;
    groups->kept = kept;
    groups->kept_count = cn_call_groups_call_len(kept) / sizeof(uint64_t);
    groups->group_of = cn_alloc((size_t)rec->function_count + 1, sizeof(uint32_t));
    return groups;
}

void cn_call_groups_free(struct cn_call_groups *groups)
{
    for (size_t i = 0; groups && i < groups->count; i++) {
        struct call_chunk *chunk = groups->list[i].first;

        while (chunk) {
            struct call_chunk *next = chunk->next;

            free(chunk);
            chunk = next;
        }
    }
    if (groups) {
        free(groups->list);
        free(groups->group_of);
        cn_names_done(&groups->names);
    }
    free(groups);
}

uint64_t cn_call_groups_len(const struct cn_call_groups *groups)
{
    return groups->len;
}

/* The group of a call, found by its name or made. */
static size_t find_group(struct cn_call_groups *groups, const struct cn_span *span)
{
    char name[CN_CALL_NAME_MAX];
    size_t at = groups->count;

    if (groups->by_name)
        at = cn_names_add(&groups->names,
                          cn_call_name(groups->rec, span->function, span->address, name));
    if (at < groups->count)
        return at;
    CN_PUSH(groups->list, groups->count, groups->capacity,
            (struct call_group){
                .name = groups->by_name ? groups->names.list[at] : NULL,
                .is_known = span->function < groups->rec->function_count,
                .function = span->function,
                .address = span->address,
            });
    return at;
}

static struct call_group *group_at(struct cn_call_groups *groups,
                                   const struct cn_span *span)
{
    uint32_t count = groups->rec->function_count;
    bool is_known = span->function < count;
    uint32_t *at = &groups->group_of[is_known ? span->function : count];
    bool is_shared = is_known || !groups->by_name; /* all its calls are in one group */
    size_t found = is_shared && *at > 0 ? *at - 1 : find_group(groups, span);

    if (is_shared)
        *at = (uint32_t)found + 1;
    return &groups->list[found];
}

static struct call_chunk *add_chunk(struct cn_call_groups *groups,
                                    struct call_group *group)
{
    size_t capacity = group->last ? 2 * group->last->capacity : FIRST_LEN;
    struct call_chunk *chunk;

    capacity = capacity < LAST_LEN ? capacity : LAST_LEN;
    size_t len = sizeof(*chunk) + capacity * sizeof(chunk->numbers[0]);
    chunk = cn_alloc(1, len);
    chunk->capacity = capacity;
    if (group->last)
        group->last->next = chunk;
    else
        group->first = chunk;
    group->last = chunk;
    groups->len += len;
    return chunk;
}

void cn_call_groups_add(struct cn_call_groups *groups, uint64_t task,
                        const struct cn_span *span)
{
    const uint64_t numbers[CN_CALL_NUMBER_COUNT] = {
        [CN_CALL_PLACE] = task << 32 | span->depth,
        [CN_CALL_BEGIN] = span->begin_ns,
        [CN_CALL_END_NS] = span->time_ns,
        [CN_CALL_TOTAL] = span->total_ns,
        [CN_CALL_SELF] = span->self_ns,
    };
    struct call_group *group = group_at(groups, span);
    struct call_chunk *chunk = group->last;

    group->call_count++;
    if (groups->kept_count == 0)
        return;
    if (!chunk || chunk->capacity - chunk->count < groups->kept_count)
        chunk = add_chunk(groups, group);
    for (unsigned i = 0; i < CN_CALL_NUMBER_COUNT; i++)
        if (groups->kept >> i & 1)
            chunk->numbers[chunk->count++] = numbers[i];
}

static int compare_groups(const void *a, const void *b)
{
    const struct call_group *x = a, *y = b;

    if (x->name)
        return strcmp(x->name, y->name);
    if (x->is_known != y->is_known)
        return x->is_known ? 1 : -1;
    return x->function < y->function ? -1 : x->function > y->function;
}

void cn_call_groups_sort(struct cn_call_groups *groups)
{
    if (groups->count > 0)
        qsort(groups->list, groups->count, sizeof(*groups->list), compare_groups);
}

bool cn_call_groups_next(struct cn_call_groups *groups, struct cn_grouped_call *out)
{
    while (groups->at < groups->count &&
           groups->read_count == groups->list[groups->at].call_count) {
        groups->at++;
        groups->read_count = 0;
        groups->chunk = NULL;
    }
    if (groups->at >= groups->count)
        return false;
    const struct call_group *group = &groups->list[groups->at];
    out->function = group->function;
    out->address = group->address;
    groups->read_count++;
    if (groups->kept_count == 0)
        return true;
    if (!groups->chunk || groups->position == groups->chunk->count) {
        groups->chunk = groups->chunk ? groups->chunk->next : group->first;
        groups->position = 0;
    }
    for (unsigned i = 0; i < CN_CALL_NUMBER_COUNT; i++)
        if (groups->kept >> i & 1)
            out->numbers[i] = groups->chunk->numbers[groups->position++];
    return true;
}
