/* `cairn dump` of HPCToolkit v4 databases: every structure, in order, until damage. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/hpctoolkit/v4/dump/dump.h"
#include "support/scratch.h"
#include "support/tiny_v4.h"

/* What was emitted: a line for each run of equal structures. */
struct outline {
    struct cn_text text;
    const char *layout;
    size_t run, total, stop_after;
};

static void end_run(struct outline *outline)
{
    if (outline->run > 0)
        cn_text_printf(&outline->text, "%s x%zu\n", outline->layout, outline->run);
    outline->run = 0;
}

static bool note(void *arg, const struct cn_dump_item *item)
{
    struct outline *outline = arg;

    assert_true(item->bytes.len >= item->layout->size);
    if (outline->layout != item->layout->name)
        end_run(outline);
    outline->layout = item->layout->name;
    outline->run++;
    outline->total++;
    if (item->text)
        cn_text_printf(&outline->text, "'%s' ", item->text);
    return outline->total != outline->stop_after;
}

static void expect(cn_hpc_dump_fn contents, const struct cn_text *file,
                   const char *structures, const char *damage)
{
    struct cn_bytes bytes = {(const uint8_t *)file->chars, file->len};
    struct outline outline = {0};
    struct cn_error err = {0};

    assert_int_equal(cn_hpc_dump_bytes("file", contents, bytes, note, &outline, &err),
                     damage == NULL);
    end_run(&outline);
    assert_string_equal(cn_text_str(&outline.text), structures);
    assert_string_equal(err.text, damage ? damage : "");
    cn_text_done(&outline.text);
}

static const char meta_structures[] =
    "cn_hpc_file_header x1\n"
    "'General' 'IdNames' 'Metrics' 'Context' 'Strings' 'Modules' 'Files' 'Functions' "
    "cn_hpc_section x8\n"
    "'tiny' cn_hpc_general_header x1\n"
    "cn_hpc_id_names_header x1\n"
    "'SUMMARY' 'NODE' 'RANK' 'THREAD' cn_hpc_name_pointer x4\n"
    "cn_hpc_metrics_header x1\n"
    "'point' 'function' 'lex_aware' 'execution' cn_hpc_scope x4\n"
    "'CPUTIME (sec)' cn_hpc_metric x1\n"
    "cn_hpc_scope_instance x2\n"
    "'$$' '$$' cn_hpc_statistic x2\n"
    "cn_hpc_table_header x1\n"
    "'/bin/app' '/lib/libc.so.6' cn_hpc_module x2\n"
    "cn_hpc_table_header x1\n"
    "'src/app.c' cn_hpc_source_file x1\n"
    "cn_hpc_table_header x1\n"
    "'main' cn_hpc_function x2\n"
    "cn_hpc_contexts_header x1\n"
    "'main thread' cn_hpc_entry x1\n"
    "'main' cn_hpc_context x1\n"
    "cn_hpc_flex_function x1\n"
    "cn_hpc_context x1\n"
    "cn_hpc_flex_source x1\n"
    "cn_hpc_flex_point x1\n"
    "cn_hpc_context x1\n"
    "cn_hpc_flex_source x1\n"
    "cn_hpc_context x1\n"
    "cn_hpc_flex_source x1\n"
    "cn_hpc_context x1\n"
    "cn_hpc_flex_point x1\n"
    "'' cn_hpc_context x1\n"
    "cn_hpc_flex_function x1\n";

static const char draft_structures[] =
    "cn_hpc_file_header x1\n"
    "'General' 'IdNames' 'Metrics' 'Context' 'Strings' 'Modules' 'Files' 'Functions' "
    "cn_hpc_section x8\n"
    "'tiny' cn_hpc_general_header x1\n"
    "cn_hpc_id_names_header x1\n"
    "'SUMMARY' 'NODE' 'RANK' 'THREAD' cn_hpc_name_pointer x4\n"
    "cn_hpc_metrics_header x1\n"
    "'CPUTIME (sec)' cn_hpc_draft_metric x1\n"
    "'function' 'execution' cn_hpc_draft_scope x2\n"
    "'$$' '$$' cn_hpc_draft_statistic x2\n"
    "cn_hpc_table_header x1\n"
    "'/bin/app' '/lib/libc.so.6' cn_hpc_module x2\n"
    "cn_hpc_table_header x1\n"
    "'src/app.c' cn_hpc_source_file x1\n"
    "cn_hpc_table_header x1\n"
    "'main' cn_hpc_function x2\n"
    "cn_hpc_draft_contexts_header x1\n"
    "'main' cn_hpc_draft_context x1\n"
    "cn_hpc_flex_function x1\n"
    "cn_hpc_draft_context x1\n"
    "cn_hpc_flex_source x1\n"
    "cn_hpc_flex_point x1\n"
    "cn_hpc_draft_context x1\n"
    "cn_hpc_flex_source x1\n"
    "cn_hpc_draft_context x1\n"
    "cn_hpc_flex_source x1\n"
    "cn_hpc_draft_context x1\n"
    "cn_hpc_flex_point x1\n"
    "'' cn_hpc_draft_context x1\n"
    "cn_hpc_flex_function x1\n";

static void shows_every_structure_of_meta_db(void **state)
{
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    expect(cn_hpc_v4_dump_meta, &tiny.meta, meta_structures, NULL);
    cn_tiny_v4_done(&tiny);
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){.grow = 8, .minor = 7});
    expect(cn_hpc_v4_dump_meta, &tiny.meta, meta_structures, NULL);
    cn_tiny_v4_done(&tiny);
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){.layout = CN_TINY_DRAFT_A});
    expect(cn_hpc_v4_dump_meta, &tiny.meta, draft_structures, NULL);
    cn_tiny_v4_done(&tiny);
}

static void shows_every_structure_of_profile_db(void **state)
{
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    expect(cn_hpc_v4_dump_profile, &tiny.profile,
           "cn_hpc_file_header x1\n"
           "'ProfileInfos' 'IdTuples' cn_hpc_section x2\n"
           "cn_hpc_profiles_header x1\n"
           "cn_hpc_profile x1\ncn_hpc_profile_index x9\ncn_hpc_profile_value x17\n"
           "cn_hpc_profile x1\ncn_hpc_tuple x1\ncn_hpc_identity x2\n"
           "cn_hpc_profile_index x6\ncn_hpc_profile_value x11\n"
           "cn_hpc_profile x1\ncn_hpc_tuple x1\ncn_hpc_identity x2\n"
           "cn_hpc_profile_index x6\ncn_hpc_profile_value x11\n",
           NULL);
    cn_tiny_v4_done(&tiny);
}

static void shows_every_structure_of_trace_db(void **state)
{
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    expect(cn_hpc_v4_dump_trace, &tiny.trace,
           "cn_hpc_file_header x1\n'CtxTraces' cn_hpc_section x1\n"
           "cn_hpc_traces_header x1\ncn_hpc_trace x1\ncn_hpc_sample x3\n"
           "cn_hpc_trace x1\n",
           NULL);
    cn_tiny_v4_done(&tiny);
}

static void shows_what_comes_before_the_damage(void **state)
{
    struct cn_text damage = {0};
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    cn_tiny_v4_set(&tiny.trace, &cn_hpc_trace_layout, tiny.trace_off[1], "end_off",
                   UINT64_MAX);
    cn_text_printf(&damage,
                   "trace 1 at 0x%" PRIx64 ": samples from 0x%" PRIx64
                   " to 0xffffffffffffffff do not fit the file of %zu",
                   tiny.trace_off[1],
                   tiny.samples_off + CN_TINY_SAMPLES * cn_hpc_sample_size,
                   tiny.trace.len);
    expect(cn_hpc_v4_dump_trace, &tiny.trace,
           "cn_hpc_file_header x1\n'CtxTraces' cn_hpc_section x1\n"
           "cn_hpc_traces_header x1\ncn_hpc_trace x1\ncn_hpc_sample x3\n"
           "cn_hpc_trace x1\n",
           cn_text_str(&damage));
    cn_text_done(&damage);
    cn_tiny_v4_done(&tiny);
}

/* Every context claims the whole file as its values. */
static void ends_when_structures_overlap(void **state)
{
    struct outline outline = {0};
    struct cn_error err = {0};
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    for (size_t i = 0; i < CN_TINY_CONTEXTS; i++) {
        cn_tiny_v4_set(&tiny.cct, &cn_hpc_context_info_layout, tiny.info_off[i],
                       "values_off", 0);
        cn_tiny_v4_set(&tiny.cct, &cn_hpc_context_info_layout, tiny.info_off[i],
                       "value_count", tiny.cct.len / cn_hpc_context_value_size);
    }
    assert_false(cn_hpc_dump_bytes(
        "cct.db", cn_hpc_v4_dump_cct,
        (struct cn_bytes){(const uint8_t *)tiny.cct.chars, tiny.cct.len}, note, &outline,
        &err));
    assert_non_null(strstr(err.text, "structures overlap"));
    assert_true(outline.total < tiny.cct.len);
    cn_text_done(&outline.text);
    cn_tiny_v4_done(&tiny);
}

static void write_file(const char *path, const struct cn_text *file)
{
    cn_scratch_write(path, file->chars, file->len);
}

static size_t count_structures(const char *path, size_t stop_after)
{
    struct outline outline = {.stop_after = stop_after};
    struct cn_error err = {0};

    if (!cn_hpc_v4_dump(path, note, &outline, &err))
        fail_msg("%s", err.text);
    cn_text_done(&outline.text);
    return outline.total;
}

static void dumps_a_directory_or_one_file(void **state)
{
    struct cn_scratch *scratch = cn_scratch_enter();
    struct outline outline = {0};
    struct cn_error err = {0};
    struct cn_tiny_v4 tiny;

    (void)state;
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    assert_int_equal(mkdir("db", 0777), 0);
    write_file("db/meta.db", &tiny.meta);
    write_file("db/profile.db", &tiny.profile);
    assert_int_equal(count_structures("db", 0), 48 + 73);
    write_file("db/trace.db", &tiny.trace);
    assert_int_equal(count_structures("db", 0), 48 + 73 + 8);
    assert_int_equal(count_structures("db/trace.db", 0), 8);
    assert_int_equal(count_structures("db", 50), 50);
    write_file("db/cct.db", &tiny.trace);
    assert_false(cn_hpc_v4_dump("db", note, &outline, &err));
    assert_string_equal(err.text, "db/cct.db: not a cct.db");
    cn_text_done(&outline.text);
    cn_tiny_v4_done(&tiny);
    cn_scratch_leave(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_every_structure_of_meta_db),
        cmocka_unit_test(shows_every_structure_of_profile_db),
        cmocka_unit_test(shows_every_structure_of_trace_db),
        cmocka_unit_test(shows_what_comes_before_the_damage),
        cmocka_unit_test(ends_when_structures_overlap),
        cmocka_unit_test(dumps_a_directory_or_one_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
