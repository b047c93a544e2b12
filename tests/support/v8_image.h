/* A heap of V8 as Node 20 has it, in memory of our own: one script with functions that are
 * interpreted and compiled, as readers of sampled processes meet them.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_V8_IMAGE_H
#define CN_TEST_V8_IMAGE_H

#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/v8.h"

enum {
    CN_V8_IMAGE_BASE = 0x100000,
    CN_V8_IMAGE_LEN = 0x4000,
    CN_V8_IMAGE_BUILTINS =
        0x200000, /* an entry, a handler and another, each of 256 bytes */
    CN_V8_IMAGE_STACK = 0x700000,
    CN_V8_IMAGE_STACK_LEN = 512,
    CN_V8_IMAGE_CODE = CN_V8_IMAGE_BASE + 0x2000, /* where instructions of `code` begin */
    CN_V8_IMAGE_CODE_LEN = 256,
};

struct cn_v8_image {
    uint8_t bytes[CN_V8_IMAGE_LEN];
    size_t len;          /* of the bytes that can be read */
    uint64_t used;       /* offset of the next object */
    uint64_t types[512]; /* maps by type */
    /* Tagged objects. */
    uint64_t shared, inlined, function, script, bytecodes, code;
    uint64_t names[6]; /* strings of all kinds: each "outer" */
};

/* Fill an image, and a reader of it. The lines of the source "one\ntwo\nthree\n" are 1 to 3;
 * "outer" begins in the first, "inner" in the third. */
void cn_v8_image_fill(struct cn_v8_image *image);
void cn_v8_image_open(struct cn_v8_image *image, struct cn_v8 *v8,
                      struct cn_memory *memory, struct cn_stored_names *names);

/* Replace a word of an image. */
void cn_v8_image_set(struct cn_v8_image *image, uint64_t address, uint64_t word);

#endif
