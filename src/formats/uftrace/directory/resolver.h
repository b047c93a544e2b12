/* Resolves addresses of one task to functions, by the mappings at the time of a call.
 *
 * A small cache makes a known address cost one comparison; it is cleared when the
 * mappings change.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_RESOLVER_H
#define CN_FORMATS_UFTRACE_DIRECTORY_RESOLVER_H

#include "formats/uftrace/directory/directory.h"

/* The cache is 2-way associative. Multiplying by an odd number is a bijection on
 * addresses of 48 bits: the upper bits of the product choose the set, the lower bits are
 * the tag. The rest of an entry is the function. */
enum {
    CN_UFT_SET_BITS = 11,
    CN_UFT_TAG_BITS = CN_UFT_ADDRESS_BITS - CN_UFT_SET_BITS,
    CN_UFT_FUNCTION_BITS = 64 - CN_UFT_TAG_BITS,
};
_Static_assert(CN_UFT_SYMBOLS_MAX < 1 << CN_UFT_FUNCTION_BITS,
               "an entry of the cache can name every function, and none");

struct cn_uft_resolver {
    const struct cn_uft_directory *dir;
    uint32_t task;
    /* The mappings are valid from begin_ns to begin_ns + span_ns. */
    uint64_t begin_ns, span_ns;
    const struct cn_session *session;        /* NULL when the task has none */
    size_t map_count;                        /* mappings at the start of the session */
    size_t load_count;                       /* libraries loaded since */
    uint64_t cache[1 << CN_UFT_SET_BITS][2]; /* tag, then function + 1; 0: unknown */
};

void cn_uft_resolver_init(struct cn_uft_resolver *resolver,
                          const struct cn_uft_directory *dir, uint32_t task);

/* Switch to the mappings at another time. */
void cn_uft_resolver_move(struct cn_uft_resolver *resolver, uint64_t time_ns);

/* Resolve an address that is not in the cache. */
uint32_t cn_uft_resolver_miss(struct cn_uft_resolver *resolver, uint64_t address);

enum {
    CN_UFT_FUNCTION_MASK = (1 << CN_UFT_FUNCTION_BITS) - 1, /* means no function */
};

static inline uint64_t cn_uft_address_mix(uint64_t address)
{
    return (address * 0x9e3779b97f4b) & ((UINT64_C(1) << CN_UFT_ADDRESS_BITS) - 1);
}

/* Resolve an address of 48 bits with the current mappings. */
static inline uint32_t cn_uft_resolve_now(struct cn_uft_resolver *resolver,
                                          uint64_t address)
{
    uint64_t mix = cn_uft_address_mix(address);
    uint64_t tag = mix & ((UINT64_C(1) << CN_UFT_TAG_BITS) - 1);
    const uint64_t *set = resolver->cache[mix >> CN_UFT_TAG_BITS];
    uint64_t first = set[0], second = set[1], entry;
    /* All ones when the first entry matches; a branch here would be mispredicted. */
    uint64_t is_first = 0 - (uint64_t)(first >> CN_UFT_FUNCTION_BITS == tag);

    entry = (first & is_first) | (second & ~is_first);
    if (entry >> CN_UFT_FUNCTION_BITS != tag || (entry & CN_UFT_FUNCTION_MASK) == 0)
        return cn_uft_resolver_miss(resolver, address);
    entry &= CN_UFT_FUNCTION_MASK;
    return entry == CN_UFT_FUNCTION_MASK ? CN_NONE : (uint32_t)entry - 1;
}

/* The same with the mappings at a time. */
static inline uint32_t cn_uft_resolve(struct cn_uft_resolver *resolver, uint64_t time_ns,
                                      uint64_t address)
{
    if (time_ns - resolver->begin_ns > resolver->span_ns)
        cn_uft_resolver_move(resolver, time_ns);
    return cn_uft_resolve_now(resolver, address);
}

/* The symbol of a module at an offset; CN_NONE when there is none. */
uint32_t cn_uft_find_symbol(const struct cn_uft_directory *dir, uint32_t module,
                            uint64_t offset);

/* Resolve one address without a cache; implements `find_function` of struct
 * cn_recording_ops. */
uint32_t cn_uft_find_function(const struct cn_recording *rec, uint32_t task,
                              uint64_t time_ns, uint64_t address);

#endif
