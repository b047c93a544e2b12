/* What packing and unpacking both remember while they walk through the records: the open
 * functions, and at each place what happened there before. Both sides change it in the same
 * way, so that nothing of it is stored but the functions open at the start of a chunk.
 *
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_UFTRACE_PACKED_PACKED_PLACES_H
#define CN_FORMATS_UFTRACE_PACKED_PACKED_PLACES_H

#include <stdint.h>
#include <string.h>

#include "formats/uftrace/format.h"
#include "formats/uftrace/packed/packed_format.h"

/* Picks that happened at a place, the latest first. */
struct cn_uft_place {
    uint32_t picks[CN_UFT_CHOICE_COUNT];
    uint32_t unused; /* 16 bytes: the place is found by a shift */
};

struct cn_uft_frame {
    uint64_t key;  /* the pick that entered it << 32 | the pick of what it did last */
    uint64_t word; /* of its entry, without depth */
};

struct cn_uft_places {
    struct cn_uft_place list[1 << CN_UFT_PLACE_BITS];
    struct cn_uft_frame frames[2 * CN_UFT_PACKED_DEPTH_MAX]; /* by the depth of the entry;
                                                                the upper half is waste */
    uint32_t depth; /* that the next entry has; counts modulo CN_UFT_PACKED_DEPTH_MAX */
};

#define CN_UFT_DEPTH_MASK ((uint64_t)(CN_UFT_PACKED_DEPTH_MAX - 1) << CN_UFT_DEPTH_AT)
#define CN_UFT_TYPE_MASK  ((UINT64_C(1) << CN_UFT_TYPE_BITS) - 1)
#define CN_UFT_MORE_MASK  (UINT64_C(1) << CN_UFT_MORE_AT)

static inline uint32_t cn_uft_depth_below(uint32_t depth)
{
    return (depth - 1) & (CN_UFT_PACKED_DEPTH_MAX - 1);
}

static inline uint32_t cn_uft_depth_above(uint32_t depth)
{
    return (depth + 1) & (CN_UFT_PACKED_DEPTH_MAX - 1);
}

/* The frame we are in. */
static inline struct cn_uft_frame *cn_uft_places_top(struct cn_uft_places *places)
{
    return &places->frames[cn_uft_depth_below(places->depth)];
}

static inline struct cn_uft_place *cn_uft_places_at(struct cn_uft_places *places,
                                                    uint64_t key)
{
    return &places->list[(key * CN_UFT_PLACE_FACTOR) >> (64 - CN_UFT_PLACE_BITS)];
}

/* The place we are at. */
static inline struct cn_uft_place *cn_uft_places_here(struct cn_uft_places *places)
{
    return cn_uft_places_at(places, cn_uft_places_top(places)->key);
}

/* `pick` was remembered as number `choice`: it becomes the latest. With CN_UFT_CHOICE_NONE
 * the oldest is forgotten. Masks instead of branches: which choice it is, is just what nobody
 * can predict. */
static inline void cn_uft_place_refresh(struct cn_uft_place *place, unsigned choice,
                                        uint32_t pick)
{
    uint32_t first = place->picks[0], second = place->picks[1], third = place->picks[2];
    uint32_t from_first = 0U - (choice > 0), from_second = 0U - (choice > 1);

    place->picks[0] = pick;
    place->picks[1] = (first & from_first) | (second & ~from_first);
    place->picks[2] = (second & from_second) | (third & ~from_second);
}

/* The current function did something that is neither an exit nor an entry. */
static inline void cn_uft_places_note(struct cn_uft_places *places, uint32_t pick)
{
    struct cn_uft_frame *top = cn_uft_places_top(places);

    top->key = (top->key & ~(uint64_t)UINT32_MAX) | pick;
}

/* An entry, or an exit from the innermost function, whose pick is 0. Both write the same
 * places, to save a branch that nobody could predict: an exit leaves the current frame as it
 * is and writes another one where it is never read. */
static inline void cn_uft_frame_call(struct cn_uft_frame *frames,
                                     struct cn_uft_frame *top, uint32_t depth,
                                     uint32_t pick, uint64_t entry_word, bool is_exit)
{
    uint64_t kept_bits = ~(uint64_t)UINT32_MAX | (0 - (uint64_t)is_exit);
    uint32_t at = depth | (uint32_t)is_exit << CN_UFT_DEPTH_BITS;

    top->key = (top->key & kept_bits) | pick;
    frames[at] = (struct cn_uft_frame){(uint64_t)pick << 32, entry_word};
}

/* The same, and the depth changes. */
static inline void cn_uft_places_call(struct cn_uft_places *places, uint32_t pick,
                                      uint64_t entry_word, bool is_exit)
{
    cn_uft_frame_call(places->frames, cn_uft_places_top(places), places->depth, pick,
                      entry_word, is_exit);
    places->depth =
        (places->depth + (is_exit ? UINT32_MAX : 1)) & (CN_UFT_PACKED_DEPTH_MAX - 1);
}

/* Go to a depth that the calls before do not explain. Functions between are unknown. */
static inline void cn_uft_places_move(struct cn_uft_places *places, uint32_t depth)
{
    for (uint32_t i = places->depth; i < depth; i++)
        places->frames[i] = (struct cn_uft_frame){0};
    places->depth = depth;
}

/* Forget everything but the depth; the functions that are open get the picks that their
 * words have at the start of the column `words`. */
static inline void cn_uft_places_begin(struct cn_uft_places *places, uint32_t depth)
{
    memset(places->list, 0, sizeof(places->list));
    for (uint32_t i = 0; i < depth; i++)
        places->frames[i].key = (uint64_t)(CN_UFT_PICK_WORD + i) << 32;
    for (uint32_t i = depth; i < CN_UFT_PACKED_DEPTH_MAX; i++)
        places->frames[i] = (struct cn_uft_frame){0};
    places->depth = depth;
}

/* The word of an exit: that of the entry with its type and depth changed. `word` is without
 * depth, `more` as the exit has it. */
static inline uint64_t cn_uft_exit_word(uint64_t entry_word, bool has_more)
{
    uint64_t word = entry_word & ~(CN_UFT_TYPE_MASK | CN_UFT_MORE_MASK);

    return word | CN_UFT_EXIT | (has_more ? CN_UFT_MORE_MASK : 0);
}

#endif
