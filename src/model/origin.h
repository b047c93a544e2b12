/* Where data comes from: what was run, on which machine, when, and how it was measured.
 *
 * Texts are NULL and numbers 0 where it is unknown. Texts are borrowed from the owner of the data.
 * perf.data and databases of cairn store it as lines KEY=VALUE.
 * Threads: immutable.
 */
#ifndef CN_MODEL_ORIGIN_H
#define CN_MODEL_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"

struct cn_arena;
struct cn_text;

struct cn_origin {
    const char *program; /* that was run, with its arguments; NULL: it ran already */
    const char *command; /* of the tool that measured */
    const char *writer;  /* the tool and its version: "cairn 0.9.0" */
    const char *host;
    const char *kernel;    /* its release */
    const char *machine;   /* "x86_64" */
    const char *processor; /* its model */
    uint64_t processor_count;
    uint64_t memory_bytes;
    uint64_t start_ns;   /* since the epoch */
    const char *filters; /* that left something out before it was written */

    /* Of samples. */
    const char *stacks;     /* how stacks were taken: "unwound in the kernel" */
    const char *refusal;    /* why not in the kernel */
    uint64_t stack_count;   /* 0: the next four are unknown */
    uint64_t whole_count;   /* stacks that reach the start of their thread */
    uint64_t kernel_count;  /* that were unwound in the kernel; the others were copied */
    uint64_t unnamed_count; /* in which a function has no name */
    uint64_t lost_count;    /* records */
};

/* See each member that is known; `text` is NULL for a number. */
typedef void (*cn_origin_visit)(void *arg, const char *key, const char *text,
                                uint64_t number);
void cn_origin_each(const struct cn_origin *origin, cn_origin_visit visit, void *arg);

/* True if anything is known. */
bool cn_origin_is_known(const struct cn_origin *origin);

/* Append what is known as lines. */
void cn_origin_encode(const struct cn_origin *origin, struct cn_text *out);

/* Set the members that lines name; texts are copied to `arena`. Other lines are ignored. */
void cn_origin_decode(struct cn_origin *origin, struct cn_bytes lines,
                      struct cn_arena *arena);

/* A copy whose texts are in `arena`. */
struct cn_origin cn_origin_copy(const struct cn_origin *origin, struct cn_arena *arena);

#endif
