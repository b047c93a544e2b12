/* Loops of a function, from its machine code: its blocks, the jumps between them, and the
 * cycles that these form. A loop is known by its head, the block through which it is entered.
 * Jumps through registers and tables are not followed, so loops that need them are not found.
 * x86_64 needs libcapstone for the lengths of instructions; without it there are no loops.
 * Internal to the folder.
 * Threads: one thread fills it; immutable afterwards.
 */
#ifndef CN_SYMBOLS_PROGRAM_LOOPS_H
#define CN_SYMBOLS_PROGRAM_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"

enum {
    CN_LOOPS_CODE_MAX = 1 << 20, /* bytes of a function; longer ones have no loops */
    CN_LOOPS_DEPTH_MAX = 16,     /* loops in each other; inner ones are not found */
};

struct cn_loop {
    uint32_t head;   /* offset in the function */
    uint32_t parent; /* 1 + index of the loop around it; 0: none */
};

struct cn_loop_block {
    uint32_t begin; /* offset in the function */
    uint32_t loop;  /* 1 + index of its innermost loop; 0: none */
};

struct cn_loops {
    struct cn_loop *list;
    size_t count, capacity;
    struct cn_loop_block *blocks; /* by offset */
    size_t block_count;
};

/* True if the function at this offset from the caller's beginning never returns. */
typedef bool (*cn_loops_ends_fn)(void *arg, uint64_t target);

/* Find the loops of a function; a zeroed struct is empty. Code after the call of a function
 * that never returns is reached by jumps only: `ends` knows these. */
void cn_loops_find(struct cn_loops *loops, struct cn_bytes code, bool is_x86,
                   cn_loops_ends_fn ends, void *arg);

/* The heads of the loops around an offset, the outermost first; returns how many, at most
 * CN_LOOPS_DEPTH_MAX. */
size_t cn_loops_at(const struct cn_loops *loops, uint32_t offset,
                   uint32_t heads[CN_LOOPS_DEPTH_MAX]);
/* Offsets of blocks of the loop with this head, spread over it, and the head itself; returns
 * how many. */
enum { CN_LOOPS_BLOCK_MAX = 16 };
size_t cn_loops_blocks(const struct cn_loops *loops, uint32_t head,
                       uint32_t blocks[CN_LOOPS_BLOCK_MAX]);
void cn_loops_done(struct cn_loops *loops);

#endif
