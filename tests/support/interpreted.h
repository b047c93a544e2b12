/* Checks that PHP, Ruby and Perl have in common, on images of their memory.
 *
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_INTERPRETED_H
#define CN_TEST_INTERPRETED_H

#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/runtimes.h"
#include "support/interpreter_image.h"

enum { CN_TEST_CHAIN_MAX = 64 };

struct cn_test_language {
    const struct cn_language_runtime *runtime;
    void *(*open)(struct cn_memory *memory, struct cn_stored_names *names,
                  uint32_t version);
    struct cn_text (*image)(uint32_t version);
    uint64_t state;            /* where walks begin */
    const uint32_t *versions;  /* ends with 0 */
    const uint64_t *chain;     /* a stack of native code, ends with 0 */
    const char *const *merged; /* names with lines that it becomes; "": native code */
};

/* One process. */
struct cn_test_interpreted {
    const struct cn_test_language *language;
    struct cn_text image;
    struct cn_bytes bytes;
    struct cn_memory memory;
    struct cn_stored_names names;
    void *state;
    struct cn_frame_table table;
    struct cn_frame_walk walk;
    uint64_t chain[CN_TEST_CHAIN_MAX];
    size_t count;
};

struct cn_test_interpreted *
cn_test_interpreted_new(const struct cn_test_language *language, uint32_t version);
void cn_test_interpreted_free(struct cn_test_interpreted *test);

/* Read the frames as the kernel does. */
bool cn_test_interpreted_read(struct cn_test_interpreted *test);

/* Merge the stack with frames that were read (`is_late`: with those of now). */
void cn_test_interpreted_finish(struct cn_test_interpreted *test, bool is_late,
                                bool is_whole);

/* Fails unless the stack has become what it should be. */
void cn_test_interpreted_expect(struct cn_test_interpreted *test,
                                const char *const *merged);

/* The copy of a stack has a call of the function that interprets, and it holds `held`. */
void cn_test_interpreted_see(struct cn_test_interpreted *test, uint64_t pc,
                             uint64_t held);

/* Every version: frames in the place of calls. */
void cn_test_shows_frames(const struct cn_test_language *language);

/* A process that has ended: what was read before is known, the rest is not named. */
void cn_test_knows_what_was_read(const struct cn_test_language *language);

/* Stacks that have more or fewer calls than frames stay as they are, except those of calls that
 * begin or end. */
void cn_test_changes_no_stack_that_contradicts(const struct cn_test_language *language);

/* Every word of an image is replaced by others, one at a time and all at once. */
void cn_test_survives_any_memory(const struct cn_test_language *language);

/* For fuzz targets: any bytes as the memory. */
void cn_test_interpreted_fuzz(const struct cn_test_language *language,
                              const uint8_t *data, size_t len);
void cn_test_interpreted_seeds(const struct cn_test_language *language,
                               void (*emit)(const uint8_t *data, size_t len));

extern const struct cn_test_language cn_test_php, cn_test_ruby, cn_test_perl;

#endif
