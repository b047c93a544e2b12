/* Verify any bytes: the verifier ends and reads nothing outside them.
 * What cairn and hpcprof wrote has no errors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/run/progress.h"
#include "base/text.h"
#include "formats/hpctoolkit/v4/verify/verify.h"
#include "support/data.h"
#include "support/effort.h"
#include "support/findings.h"
#include "support/listing.h"
#include "support/sample.h"
#include "support/scratch.h"
#include "support/tiny_v4.h"

static size_t count_errors(const struct cn_hpc_v4_files *files)
{
    struct cn_text found = {0};
    size_t error_count;

    cn_findings_list(files, &found, &error_count);
    cn_text_done(&found);
    return error_count;
}

static struct cn_bytes *file_of(struct cn_hpc_v4_files *files, unsigned which)
{
    struct cn_bytes *list[] = {&files->meta, &files->profile, &files->cct, &files->trace};

    return list[which];
}

/* An exact copy on the heap, so that reading beyond its end is noticed. */
static uint8_t *copy_of(struct cn_bytes bytes, size_t len)
{
    uint8_t *copy = cn_alloc(len ? len : 1, 1);

    memcpy(copy, bytes.ptr, len);
    return copy;
}

static void finds_every_truncation(void **state)
{
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    for (unsigned which = 0; which < 4; which++) {
        struct cn_hpc_v4_files files;
        struct cn_bytes whole;

        cn_tiny_v4_files(&tiny, &files);
        whole = *file_of(&files, which);
        for (size_t len = 0; len < whole.len; len++) {
            uint8_t *copy = copy_of(whole, len);

            *file_of(&files, which) = (struct cn_bytes){copy, len};
            assert_true(count_errors(&files) > 0);
            free(copy);
        }
    }
    cn_tiny_v4_done(&tiny);
}

static void flip_bits(const struct cn_tiny_v4 *tiny, unsigned which)
{
    struct cn_hpc_v4_files files;
    struct cn_bytes whole;
    uint8_t *copy;

    cn_tiny_v4_files(tiny, &files);
    whole = *file_of(&files, which);
    copy = copy_of(whole, whole.len);
    *file_of(&files, which) = (struct cn_bytes){copy, whole.len};
    for (size_t bit = 0; bit < 8 * whole.len; bit += cn_test_bit_step()) {
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        (void)count_errors(&files);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(copy);
}

static void survives_flipped_bits(void **state)
{
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    for (unsigned which = 0; which < 4; which++)
        flip_bits(&tiny, which);
    cn_tiny_v4_done(&tiny);
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){.layout = CN_TINY_DRAFT_A});
    flip_bits(&tiny, 0);
    cn_tiny_v4_done(&tiny);
}

static void add_error(void *arg, const struct cn_finding *finding)
{
    struct cn_text *errors = arg;

    if (finding->is_error)
        cn_text_printf(errors, "%s: %s: %s\n", finding->file, finding->rule,
                       finding->text);
}

static void check_directory(const char *path)
{
    struct cn_text errors = {0};
    struct cn_error err = {0};

    if (!cn_hpc_v4_verify(path, NULL, add_error, &errors, &err))
        fail_msg("%s: %s", path, err.text);
    if (errors.len > 0)
        fail_msg("%s: %s", path, cn_text_str(&errors));
    cn_text_done(&errors);
}

static void finds_no_error_in_what_cairn_writes(void **state)
{
    struct cn_scratch *scratch = cn_scratch_enter();
    struct cn_error err = {0};

    (void)state;
    if (!cn_sample_write("sample", &err))
        fail_msg("%s", err.text);
    check_directory("sample");
    check_directory("sample/meta.db");
    cn_scratch_leave(scratch);
}

static void add_warning(void *arg, const struct cn_finding *finding)
{
    if (!finding->is_error)
        cn_text_printf(arg, "%s: %s\n", finding->rule, finding->text);
}

static void looks_for_copied_files(void **state)
{
    struct cn_scratch *scratch = cn_scratch_enter();
    struct cn_text warnings = {0};
    struct cn_error err = {0};
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_source_file_layout, tiny.file_off, "flags",
                   CN_HPC_FILE_COPIED);
    cn_scratch_write("meta.db", tiny.meta.chars, tiny.meta.len);
    cn_scratch_write("profile.db", tiny.profile.chars, tiny.profile.len);
    cn_scratch_write("cct.db", tiny.cct.chars, tiny.cct.len);
    assert_true(cn_hpc_v4_verify(".", NULL, add_warning, &warnings, &err));
    assert_non_null(strstr(cn_text_str(&warnings), "copied-missing: copied file "));
    cn_text_done(&warnings);
    cn_tiny_v4_done(&tiny);
    cn_scratch_leave(scratch);
}

static void check_all_in(const char *folder)
{
    char *path = cn_test_data(folder);
    struct cn_listing databases = cn_listing_of(path);

    for (size_t i = 0; i < databases.count; i++) {
        struct cn_text database = {0};

        cn_text_printf(&database, "%s/%s", path, databases.names[i]);
        check_directory(cn_text_str(&database));
        cn_text_done(&database);
    }
    cn_listing_done(&databases);
    free(path);
}

static void finds_no_error_in_databases_of_hpcprof(void **state)
{
    (void)state;
    check_all_in("hpctoolkit/v4");
    check_all_in("hpctoolkit/v4-draft");
}

static bool stop(void *arg, const char *what, uint64_t done, uint64_t total,
                 const char *unit)
{
    (void)arg;
    (void)what;
    (void)done;
    (void)total;
    (void)unit;
    return false;
}

static void stops_when_asked(void **state)
{
    const struct cn_progress progress = {.report = stop, .arg = NULL};
    struct cn_tiny_v4 tiny;
    struct cn_hpc_v4_files files;
    struct cn_text errors = {0};
    struct cn_error err = {0};

    (void)state;
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    cn_tiny_v4_files(&tiny, &files);
    assert_false(cn_hpc_v4_verify_bytes(&files, &progress, add_error, &errors, &err));
    assert_int_equal(err.kind, CN_ERR_INTERRUPTED);
    cn_text_done(&errors);
    cn_tiny_v4_done(&tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_truncation),
        cmocka_unit_test(survives_flipped_bits),
        cmocka_unit_test(finds_no_error_in_what_cairn_writes),
        cmocka_unit_test(looks_for_copied_files),
        cmocka_unit_test(stops_when_asked),
    };
    const struct CMUnitTest on_data[] = {
        cmocka_unit_test(finds_no_error_in_databases_of_hpcprof),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + CN_TEST_ON_DATA(on_data);
}
