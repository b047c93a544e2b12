#include "analyze/samples/identity.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

enum { GLOBAL_SEED = 1, LOCAL_SEED = 2 };

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 32;
}

/* The kind of a name; those of the first profile have the same index as there, also empty
 * ones. */
static bool find_kind(struct cn_sampled_identities *identities,
                      const struct cn_sampled_profile *profile, size_t index,
                      uint8_t *out, struct cn_error *err)
{
    struct cn_bytes name = profile->kinds[index];
    struct cn_text text = {0};

    if (index < identities->kinds.count &&
        cn_bytes_equal(name, identities->kinds.list[index])) {
        *out = (uint8_t)index;
        return true;
    }
    cn_text_add(&text, (const char *)name.ptr, name.len);
    uint32_t kind = cn_names_add(&identities->kinds, cn_text_str(&text));
    cn_text_done(&text);
    if (kind >= CN_KINDS_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d kinds of identities",
                       CN_KINDS_MAX);
    *out = (uint8_t)kind;
    return true;
}

/* The running number of a physical id among those with the same prefix. */
static uint32_t number(struct cn_sampled_identities *identities, uint64_t prefix,
                       uint64_t physical)
{
    uint32_t *known = cn_map_at(&identities->numbers, mix(prefix, physical), CN_NONE);

    if (*known == CN_NONE)
        *known = (*cn_map_at(&identities->counts, prefix, 0))++;
    return *known;
}

static bool convert(struct cn_sampled_identities *identities,
                    const struct cn_sampled_identity *from, uint64_t prefix,
                    struct cn_identity *to, struct cn_error *err)
{
    uint64_t logical = from->logical;

    if (from->numbering == CN_NUMBER_LOCALLY)
        logical = number(identities, mix(prefix, to->kind), from->physical);
    else if (from->numbering == CN_NUMBER_GLOBALLY)
        logical = number(identities, mix(GLOBAL_SEED, to->kind), from->physical);
    if (logical > UINT32_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "logical id %" PRIu64 " in an identity",
                       logical);
    to->logical = (uint32_t)logical;
    to->physical = from->physical;
    to->is_physical = from->numbering != CN_NUMBERED_LOGICAL;
    return true;
}

bool cn_sampled_identities_add(struct cn_sampled_identities *identities,
                               const struct cn_sampled_profile *profile,
                               struct cn_identity ids[CN_IDENTITY_MAX], size_t *count,
                               struct cn_error *err)
{
    uint64_t prefix = LOCAL_SEED;
    uint8_t ignored;

    for (size_t i = identities->kinds.count; i < profile->kind_count; i++)
        if (!find_kind(identities, profile, i, &ignored, err))
            return false;
    for (size_t i = 0; i < profile->identity_count; i++) {
        if (!find_kind(identities, profile, profile->identity[i].kind, &ids[i].kind,
                       err) ||
            !convert(identities, &profile->identity[i], prefix, &ids[i], err))
            return false;
        prefix = mix(mix(prefix, ids[i].kind), ids[i].physical);
    }
    *count = profile->identity_count;
    return true;
}

void cn_sampled_identities_done(struct cn_sampled_identities *identities)
{
    cn_names_done(&identities->kinds);
    cn_map_done(&identities->numbers);
    cn_map_done(&identities->counts);
}
