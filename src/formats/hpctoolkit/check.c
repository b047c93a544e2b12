#include "formats/hpctoolkit/check.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/sort.h"

struct cn_findings cn_hpc_findings(cn_finding_fn report, void *arg)
{
    return (struct cn_findings){.report = report,
                                .arg = arg,
                                .error_max = CN_HPC_ERROR_MAX,
                                .warning_max = CN_HPC_WARNING_MAX};
}

void cn_hpc_set_init(struct cn_hpc_set *set, uint64_t limit)
{
    set->limit = limit;
    set->bits = cn_alloc((size_t)(limit / 64 + 1), sizeof(*set->bits));
}

void cn_hpc_set_done(struct cn_hpc_set *set)
{
    free(set->bits);
    *set = (struct cn_hpc_set){0};
}

bool cn_hpc_set_has(const struct cn_hpc_set *set, uint64_t number)
{
    return number < set->limit && (set->bits[number / 64] >> (number % 64) & 1) != 0;
}

bool cn_hpc_set_add(struct cn_hpc_set *set, uint64_t number)
{
    bool is_new = !cn_hpc_set_has(set, number);

    assert(number < set->limit);
    set->bits[number / 64] |= UINT64_C(1) << (number % 64);
    return is_new;
}

bool cn_hpc_set_add_range(struct cn_hpc_set *set, uint64_t first, uint64_t count)
{
    bool is_new = true;

    assert(first <= set->limit && count <= set->limit - first);
    while (count > 0) {
        uint64_t *element = &set->bits[first / 64];
        unsigned at = first % 64;
        unsigned width = count < 64 - at ? (unsigned)count : 64 - at;
        uint64_t mask = UINT64_MAX >> (64 - width) << at;

        is_new = is_new && (*element & mask) == 0;
        *element |= mask;
        first += width;
        count -= width;
    }
    return is_new;
}

void cn_hpc_extents_add(struct cn_hpc_extents *extents, uint64_t begin, uint64_t end)
{
    struct cn_hpc_extent *last =
        extents->count > 0 ? &extents->list[extents->count - 1] : NULL;

    if (begin == end)
        return;
    if (last && begin >= last->end && begin - last->end <= extents->padding_max) {
        last->end = end;
        return;
    }
    CN_PUSH(extents->list, extents->count, extents->capacity,
            (struct cn_hpc_extent){begin, end});
}

void cn_hpc_extents_check(struct cn_findings *f, struct cn_hpc_extents *extents,
                          const char *what, const char *rule, bool are_contiguous)
{
    uint64_t end = 0;

    CN_SORT(extents->list, extents->count, CN_UP(struct cn_hpc_extent, begin));
    for (size_t i = 0; i < extents->count; i++) {
        uint64_t begin = extents->list[i].begin;

        if (begin < end)
            cn_findings_error(f, rule, begin,
                              "%s begins before the one before it ends at 0x%" PRIx64,
                              what, end);
        else if (are_contiguous && i > 0 && begin > end)
            cn_findings_warn(f, "blocks-contiguous", begin,
                             "%" PRIu64 " bytes between %s and the one before it",
                             begin - end, what);
        if (extents->list[i].end > end)
            end = extents->list[i].end;
    }
    free(extents->list);
    *extents = (struct cn_hpc_extents){0};
}

void cn_hpc_check_done(struct cn_hpc_check *c)
{
    cn_findings_begin(&c->f, NULL);
    cn_hpc_set_done(&c->summaries);
}

bool cn_hpc_check_begin(struct cn_hpc_check *c, const char *name, bool exists)
{
    cn_findings_begin(&c->f, name);
    if (!exists)
        cn_findings_error(&c->f, "file-missing", 0,
                          "does not exist, but a database needs it");
    return exists;
}

void cn_hpc_check_forget(struct cn_hpc_check *c, struct cn_bytes file, uint64_t len)
{
    enum { TOUCHED_MAX = 32 << 20 };

    c->touched_len += len;
    if (!c->is_mapped || c->touched_len < TOUCHED_MAX)
        return;
    cn_file_forget(file);
    c->touched_len = 0;
}

void cn_hpc_check_aligned(struct cn_hpc_check *c, uint64_t off, unsigned align,
                          const char *what)
{
    if (align > 0 && off % align != 0)
        cn_findings_error(&c->f, "alignment", off,
                          "%s at 0x%" PRIx64 " is not %u-byte aligned", what, off, align);
}

bool cn_hpc_check_thread(struct cn_hpc_check *c, const char *rule, uint32_t profile,
                         uint64_t off)
{
    if (c->profile_count > 0 && profile >= c->profile_count) {
        cn_findings_error(&c->f, rule, off,
                          "profile %" PRIu32 " does not exist, there are %" PRIu32,
                          profile, c->profile_count);
        return false;
    }
    if (profile == 0 || cn_hpc_set_has(&c->summaries, profile))
        cn_findings_error(&c->f, rule, off,
                          "profile %" PRIu32 " is a summary, not a thread", profile);
    return true;
}

void cn_hpc_check_pointer(struct cn_findings *f, const char *rule,
                          const struct cn_hpc_table *table, uint64_t pointer,
                          uint64_t off, const char *what)
{
    struct cn_error err;
    uint32_t index;

    if (!cn_hpc_table_find(table, pointer, what, &index, &err))
        cn_findings_error(f, rule, off, "%s", err.text);
}
