/* The predictor of packing and unpacking: the open functions, and for each state of a task
 * its last picks. Both sides update it in the same way, so a chunk stores only the
 * functions that are open at its start.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_UFTRACE_PACKED_PREDICTOR_H
#define CN_FORMATS_UFTRACE_PACKED_PREDICTOR_H

#include <stdint.h>
#include <string.h>

#include "formats/uftrace/format.h"
#include "formats/uftrace/packed/format.h"

/* The last different picks in a state, the latest first. */
struct cn_uft_prediction {
    uint32_t picks[CN_UFT_CHOICE_COUNT];
    uint32_t unused; /* pads to 16 bytes, so that indexing is a shift */
};

struct cn_uft_frame {
    uint64_t key;  /* the state: the pick that entered it << 32 | its last pick */
    uint64_t word; /* of its entry, without depth */
};

struct cn_uft_predictor {
    struct cn_uft_prediction predictions[1 << CN_UFT_PREDICTOR_BITS];
    struct cn_uft_frame frames[2 * CN_UFT_PACKED_DEPTH_MAX]; /* by the depth of the entry;
                                                                the upper half is waste */
    uint32_t depth; /* of the next entry, modulo CN_UFT_PACKED_DEPTH_MAX */
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

/* The frame of the innermost function. */
static inline struct cn_uft_frame *
cn_uft_predictor_top(struct cn_uft_predictor *predictor)
{
    return &predictor->frames[cn_uft_depth_below(predictor->depth)];
}

static inline struct cn_uft_prediction *
cn_uft_predictor_at(struct cn_uft_predictor *predictor, uint64_t key)
{
    return &predictor
                ->predictions[(key * CN_UFT_HASH_FACTOR) >> (64 - CN_UFT_PREDICTOR_BITS)];
}

/* The prediction for the current state. */
static inline struct cn_uft_prediction *
cn_uft_predictor_here(struct cn_uft_predictor *predictor)
{
    return cn_uft_predictor_at(predictor, cn_uft_predictor_top(predictor)->key);
}

/* Make `pick`, which was prediction `choice`, the first one. With CN_UFT_CHOICE_NONE the
 * last one is dropped. Uses masks, because branches on the choice would be
 * mispredicted. */
static inline void cn_uft_prediction_refresh(struct cn_uft_prediction *prediction,
                                             unsigned choice, uint32_t pick)
{
    uint32_t first = prediction->picks[0], second = prediction->picks[1],
             third = prediction->picks[2];
    uint32_t from_first = 0U - (choice > 0), from_second = 0U - (choice > 1);

    prediction->picks[0] = pick;
    prediction->picks[1] = (first & from_first) | (second & ~from_first);
    prediction->picks[2] = (second & from_second) | (third & ~from_second);
}

/* Note a pick that is neither an entry nor an exit. */
static inline void cn_uft_predictor_note(struct cn_uft_predictor *predictor,
                                         uint32_t pick)
{
    struct cn_uft_frame *top = cn_uft_predictor_top(predictor);

    top->key = (top->key & ~(uint64_t)UINT32_MAX) | pick;
}

/* Follow an entry, or an exit from the innermost function, whose pick is 0. Both do the
 * same writes, to save a branch that would be mispredicted: an exit leaves the current
 * frame unchanged and writes to an unused one. */
static inline void cn_uft_frame_call(struct cn_uft_frame *frames,
                                     struct cn_uft_frame *top, uint32_t depth,
                                     uint32_t pick, uint64_t entry_word, bool is_exit)
{
    uint64_t kept_bits = ~(uint64_t)UINT32_MAX | (0 - (uint64_t)is_exit);
    uint32_t at = depth | (uint32_t)is_exit << CN_UFT_DEPTH_BITS;

    top->key = (top->key & kept_bits) | pick;
    frames[at] = (struct cn_uft_frame){(uint64_t)pick << 32, entry_word};
}

/* The same, with the change of depth. */
static inline void cn_uft_predictor_call(struct cn_uft_predictor *predictor,
                                         uint32_t pick, uint64_t entry_word, bool is_exit)
{
    cn_uft_frame_call(predictor->frames, cn_uft_predictor_top(predictor),
                      predictor->depth, pick, entry_word, is_exit);
    predictor->depth =
        (predictor->depth + (is_exit ? UINT32_MAX : 1)) & (CN_UFT_PACKED_DEPTH_MAX - 1);
}

/* Set a depth that does not follow from the calls. The functions in between are
 * unknown. */
static inline void cn_uft_predictor_move(struct cn_uft_predictor *predictor,
                                         uint32_t depth)
{
    for (uint32_t i = predictor->depth; i < depth; i++)
        predictor->frames[i] = (struct cn_uft_frame){0};
    predictor->depth = depth;
}

/* Reset all but the depth. Open functions get the picks of their words, which come first
 * in the column `words`. */
static inline void cn_uft_predictor_begin(struct cn_uft_predictor *predictor,
                                          uint32_t depth)
{
    memset(predictor->predictions, 0, sizeof(predictor->predictions));
    for (uint32_t i = 0; i < depth; i++)
        predictor->frames[i].key = (uint64_t)(CN_UFT_PICK_WORD + i) << 32;
    for (uint32_t i = depth; i < CN_UFT_PACKED_DEPTH_MAX; i++)
        predictor->frames[i] = (struct cn_uft_frame){0};
    predictor->depth = depth;
}

/* The word of an exit without its depth, from the word of the entry. */
static inline uint64_t cn_uft_exit_word(uint64_t entry_word, bool has_more)
{
    uint64_t word = entry_word & ~(CN_UFT_TYPE_MASK | CN_UFT_MORE_MASK);

    return word | CN_UFT_EXIT | (has_more ? CN_UFT_MORE_MASK : 0);
}

#endif
