/* Any bytes in place of one file of a good database: the first byte says which.
 * Verifying ends, and what it says has no more lines than a rule may take. */

#include <assert.h>

#include "formats/hpctoolkit/v4/verify/verify.h"
#include "support/fuzz.h"
#include "support/tiny_v4.h"

enum { FILE_COUNT = 4, LAYOUT_COUNT = 3 };

static void on_finding(void *arg, const struct cn_finding *finding)
{
    size_t *count = arg;

    assert(finding->file && finding->rule && finding->text);
    ++*count;
}

static struct cn_bytes *file_of(struct cn_hpc_v4_files *files, unsigned which)
{
    struct cn_bytes *list[FILE_COUNT] = {&files->meta, &files->profile, &files->cct,
                                         &files->trace};

    return list[which];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes rest = {data, len}, first;
    struct cn_hpc_v4_files files;
    struct cn_tiny_v4 tiny;
    struct cn_error err = {0};
    size_t count = 0;

    if (!cn_bytes_take(&rest, 1, &first))
        return 0;
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){.layout = first.ptr[0] / FILE_COUNT %
                                                               LAYOUT_COUNT});
    cn_tiny_v4_files(&tiny, &files);
    *file_of(&files, first.ptr[0] % FILE_COUNT) = rest;
    assert(cn_hpc_v4_verify_bytes(&files, NULL, on_finding, &count, &err));
    assert(count < 1000);
    cn_tiny_v4_done(&tiny);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    for (unsigned layout = 0; layout < LAYOUT_COUNT; layout++) {
        struct cn_hpc_v4_files files;
        struct cn_tiny_v4 tiny;

        cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){.layout = layout});
        cn_tiny_v4_files(&tiny, &files);
        for (unsigned which = 0; which < FILE_COUNT; which++) {
            struct cn_bytes file = *file_of(&files, which);
            struct cn_text seed = {0};

            cn_text_char(&seed, (char)(layout * FILE_COUNT + which));
            cn_text_add(&seed, (const char *)file.ptr, file.len);
            emit((const uint8_t *)seed.chars, seed.len);
            cn_text_done(&seed);
        }
        cn_tiny_v4_done(&tiny);
    }
}
