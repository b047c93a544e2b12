/* The smallest HPCToolkit v4 database with one of everything, made byte by byte from
 * the field tables, without the writer: what readers are tested and damaged with.
 *
 * A program of one process with two threads:
 *
 *     1 main thread
 *       2 main()                   function 0
 *         3 loop at app.c:11
 *           5 line app.c:13        its instruction, context 8, has no record
 *         4 line app.c:12
 *           6 instruction
 *             7 anonymous function 1
 *
 * One metric in scopes function (id 1) and execution (id 3); thread `p` has the
 * value 100 p + 10 context + id where cn_tiny_v4_has() is true.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_TINY_V4_H
#define CN_TEST_TINY_V4_H

#include "base/text.h"
#include "formats/hpctoolkit/v4/read/open.h"

enum cn_tiny_layout { CN_TINY_FINAL, CN_TINY_DRAFT_A, CN_TINY_DRAFT_B };

enum {
    CN_TINY_CONTEXTS = 9, /* ids 0, the global context, to 8 */
    CN_TINY_LISTED = 7,   /* contexts with a record: 1 to 7; drafts A lack 1 */
    CN_TINY_PROFILES = 3, /* 0 is the summary */
    CN_TINY_FUNCTIONS = 2,
    CN_TINY_MODULES = 2,
    CN_TINY_SAMPLES = 3, /* all of profile 1 */
};

struct cn_tiny_options {
    enum cn_tiny_layout layout;
    unsigned grow;        /* bytes by which every record that may grow has grown */
    uint8_t minor;        /* version of all files */
    bool has_garbage;     /* in reserved bytes and bits */
    const char *function; /* name of function 0; NULL: "main" */
};

/* The files, and where things are in them. */
struct cn_tiny_v4 {
    struct cn_text meta, profile, cct, trace;
    uint64_t title_off, scopes_off, metric_off, instances_off, statistics_off;
    uint64_t module_off[CN_TINY_MODULES], file_off, function_off[CN_TINY_FUNCTIONS];
    uint64_t entry_off, context_off[CN_TINY_CONTEXTS];
    uint64_t profile_off[CN_TINY_PROFILES], tuple_off[CN_TINY_PROFILES];
    uint64_t values_off[CN_TINY_PROFILES], index_off[CN_TINY_PROFILES];
    uint64_t info_off[CN_TINY_CONTEXTS], context_index_off[CN_TINY_CONTEXTS],
        context_values_off[CN_TINY_CONTEXTS];
    uint64_t trace_off[CN_TINY_PROFILES - 1], samples_off;
};

void cn_tiny_v4_init(struct cn_tiny_v4 *tiny, const struct cn_tiny_options *options);
void cn_tiny_v4_done(struct cn_tiny_v4 *tiny);

/* The files as the reader takes them: borrowed, with a metrics/default.yaml. */
void cn_tiny_v4_files(const struct cn_tiny_v4 *tiny, struct cn_hpc_v4_files *out);

/* Overwrite one field of the record at `off`, found by its name. */
void cn_tiny_v4_set(struct cn_text *file, const struct cn_record_layout *layout,
                    uint64_t off, const char *field, uint64_t value);

/* Whether a thread has a value, and which. */
bool cn_tiny_v4_has(uint32_t profile, uint32_t context, uint16_t metric);
double cn_tiny_v4_value(uint32_t profile, uint32_t context, uint16_t metric);

#endif
