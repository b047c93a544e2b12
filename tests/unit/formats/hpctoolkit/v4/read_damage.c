/* Damaged HPCToolkit v4 databases: a message that names file, offset and value, or success;
 * never a crash, a hang or unbounded work. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/contexts/database.h"
#include "support/effort.h"
#include "support/fuzz_v4.h"
#include "support/read_everything.h"
#include "support/tiny_v4.h"

static struct cn_tiny_v4 tiny;

static int set_up(void **state)
{
    (void)state;
    cn_tiny_v4_init(&tiny, &(struct cn_tiny_options){0});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cn_tiny_v4_done(&tiny);
    return 0;
}

static uint64_t section_off(size_t section)
{
    return cn_hpc_file_header_size + section * cn_hpc_section_size;
}

static uint64_t section_start(const struct cn_text *file, size_t section)
{
    return cn_u64_get((const uint8_t *)file->chars + section_off(section) + 8);
}

/* Open and read the database as it now is; the first failure has this text. */
CN_PRINTF(2, 3) static void expect(enum cn_error_kind kind, const char *fmt, ...)
{
    struct cn_hpc_v4_files files;
    struct cn_read_totals totals;
    struct cn_error err = {0};
    struct cn_database *db;
    char expected[480];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(expected, sizeof(expected), fmt, args);
    va_end(args);
    cn_tiny_v4_files(&tiny, &files);
    if (cn_hpc_v4_open_bytes(&db, &files, &err)) {
        cn_read_everything(db, UINT64_MAX, &totals, &err);
        cn_database_close(db);
    }
    assert_string_equal(err.text, expected);
    assert_int_equal(err.kind, kind);
}

static void rejects_a_foreign_file(void **state)
{
    (void)state;
    tiny.meta.chars[3] = 'X';
    expect(CN_ERR_FORMAT, "meta.db: not a meta.db: does not start with HPCTOOLKITmeta");
}

static void rejects_a_newer_major_version(void **state)
{
    (void)state;
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_file_header_layout, 0, "major", 5);
    expect(CN_ERR_VERSION, "profile.db: version 5.0, can read 4.x");
}

static void says_that_a_footer_is_missing(void **state)
{
    (void)state;
    tiny.meta.chars[tiny.meta.len - 1] ^= 1;
    expect(CN_ERR_FORMAT, "meta.db: file is incomplete: no footer at 0x%zx",
           tiny.meta.len - 8);
}

static void rejects_sections_outside_the_file(void **state)
{
    (void)state;
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_section_layout, section_off(CN_HPC_MODULES), "len",
                   UINT64_MAX);
    expect(CN_ERR_FORMAT,
           "meta.db: section Modules of 18446744073709551615 bytes at 0x%" PRIx64
           " does not fit the file of %zu",
           section_start(&tiny.meta, CN_HPC_MODULES), tiny.meta.len);
}

static void rejects_overlapping_sections(void **state)
{
    uint64_t general = section_start(&tiny.meta, CN_HPC_GENERAL);

    (void)state;
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_section_layout, section_off(CN_HPC_STRINGS), "off",
                   general + 8);
    expect(CN_ERR_FORMAT,
           "meta.db: sections General at 0x%" PRIx64 " and Strings at 0x%" PRIx64
           " overlap",
           general, general + 8);
}

static void rejects_absurd_counts(void **state)
{
    uint64_t off = section_start(&tiny.meta, CN_HPC_FUNCTIONS);

    (void)state;
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_table_header_layout, off, "count", UINT32_MAX);
    expect(CN_ERR_FORMAT,
           "meta.db: 4294967295 functions of 40 bytes at 0x%" PRIx64
           " do not fit their section, 0x%" PRIx64 " to 0x%" PRIx64,
           tiny.function_off[0], off, tiny.function_off[1] + cn_hpc_function_size);
}

static void rejects_records_that_are_too_short(void **state)
{
    (void)state;
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_table_header_layout,
                   section_start(&tiny.meta, CN_HPC_MODULES), "record_len", 8);
    expect(CN_ERR_FORMAT, "meta.db: modules of 8 bytes each are too short, 16 needed");
}

static void rejects_strings_outside_their_section(void **state)
{
    uint64_t general = section_start(&tiny.meta, CN_HPC_GENERAL);
    uint64_t strings = section_start(&tiny.meta, CN_HPC_STRINGS);

    (void)state;
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_general_header_layout, general, "title_off",
                   strings);
    expect(CN_ERR_FORMAT,
           "meta.db: title at 0x%" PRIx64 " lies outside its section, 0x%" PRIx64
           " to 0x%" PRIx64,
           strings, general,
           general + 0x10 + sizeof("tiny") + sizeof("one of everything"));
}

static void rejects_strings_without_an_end(void **state)
{
    struct cn_hpc_entry entry;

    (void)state;
    assert_true(cn_hpc_entry_decode(
        (struct cn_bytes){(const uint8_t *)tiny.meta.chars + tiny.entry_off,
                          cn_hpc_entry_size},
        &entry));
    tiny.meta.chars[entry.name_off + strlen("main thread")] = 'x';
    expect(CN_ERR_FORMAT,
           "meta.db: entry point at 0x%" PRIx64 ": name at 0x%" PRIx64
           " does not end within 12 bytes",
           tiny.entry_off, entry.name_off);
}

static void rejects_pointers_beside_a_scope(void **state)
{
    (void)state;
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_scope_instance_layout, tiny.instances_off,
                   "scope_off", tiny.scopes_off + 8);
    expect(CN_ERR_FORMAT,
           "meta.db: metric 0 at 0x%" PRIx64 ": scope instance 0 at 0x%" PRIx64
           ": 0x%" PRIx64 " is not the start of a scope",
           tiny.metric_off, tiny.instances_off, tiny.scopes_off + 8);
}

static void rejects_pointers_beside_a_module(void **state)
{
    (void)state;
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_function_layout, tiny.function_off[1],
                   "module_off", tiny.module_off[1] + 1);
    expect(CN_ERR_FORMAT,
           "meta.db: function 1 at 0x%" PRIx64 ": 0x%" PRIx64
           " is not the start of a module",
           tiny.function_off[1], tiny.module_off[1] + 1);
}

static void rejects_pointers_beside_a_function(void **state)
{
    (void)state;
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_flex_function_layout,
                   tiny.context_off[2] + cn_hpc_context_size, "function_off", 0);
    expect(CN_ERR_FORMAT,
           "meta.db: context at 0x%" PRIx64 ": 0x0 is not the start of a function",
           tiny.context_off[2]);
}

static void rejects_too_few_flex_words(void **state)
{
    (void)state;
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_context_layout, tiny.context_off[2], "flags", 7);
    expect(CN_ERR_FORMAT,
           "meta.db: context at 0x%" PRIx64 ": 1 flex words are too few for flags 0x7",
           tiny.context_off[2]);
}

static void rejects_contexts_that_do_not_fit_their_list(void **state)
{
    (void)state;
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_context_layout, tiny.context_off[2], "flex_count",
                   255);
    expect(CN_ERR_FORMAT,
           "meta.db: context at 0x%" PRIx64
           ": 255 flex words do not fit the 8 bytes left of its list",
           tiny.context_off[2]);
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_entry_layout, tiny.entry_off, "children_len", 9);
    expect(CN_ERR_FORMAT,
           "meta.db: context at 0x%" PRIx64 ": cut off after 9 bytes of its list",
           tiny.context_off[2]);
}

static void rejects_context_id_zero(void **state)
{
    (void)state;
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_context_layout, tiny.context_off[5], "context", 0);
    expect(CN_ERR_FORMAT, "meta.db: context at 0x%" PRIx64 ": context id 0 is reserved",
           tiny.context_off[5]);
}

static void rejects_child_lists_outside_the_section(void **state)
{
    uint64_t off = section_start(&tiny.meta, CN_HPC_CONTEXTS);

    (void)state;
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_context_layout, tiny.context_off[6],
                   "children_off", off - 8);
    expect(CN_ERR_FORMAT,
           "meta.db: context 6: children of 40 bytes at 0x%" PRIx64
           " do not fit section Context, 0x%" PRIx64 " to 0x%zx",
           off - 8, off, tiny.meta.len - CN_HPC_FOOTER_LEN);
}

static void ends_a_cycle_of_contexts(void **state)
{
    uint64_t off = section_start(&tiny.meta, CN_HPC_CONTEXTS);
    uint64_t limit = tiny.meta.len - CN_HPC_FOOTER_LEN - off;
    char expected[80];
    struct cn_hpc_v4_files files;
    struct cn_read_totals totals;
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_context_layout, tiny.context_off[7],
                   "children_off", tiny.context_off[7]);
    cn_tiny_v4_set(&tiny.meta, &cn_hpc_context_layout, tiny.context_off[7],
                   "children_len", cn_hpc_context_size + CN_HPC_FLEX_WORD);
    cn_tiny_v4_files(&tiny, &files);
    assert_true(cn_hpc_v4_open_bytes(&db, &files, &err));
    cn_read_everything(db, UINT64_MAX, &totals, &err);
    assert_int_equal(totals.failures, 1);
    assert_true(totals.contexts < limit / cn_hpc_context_size);
    (void)snprintf(expected, sizeof(expected),
                   "lists of contexts overlap or form a cycle at 0x%" PRIx64,
                   tiny.context_off[7]);
    assert_non_null(strstr(err.text, expected));
    cn_database_close(db);
}

static void rejects_values_outside_the_file(void **state)
{
    (void)state;
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_profile_layout, tiny.profile_off[1],
                   "value_count", UINT64_MAX / 2);
    expect(CN_ERR_FORMAT,
           "profile.db: profile 1 at 0x%" PRIx64
           ": 9223372036854775807 values at 0x%" PRIx64 " do not fit the file of %zu",
           tiny.profile_off[1], tiny.values_off[1], tiny.profile.len);
    (void)tear_down(state);
    (void)set_up(state);
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_profile_layout, tiny.profile_off[2],
                   "index_off", UINT64_MAX);
    expect(CN_ERR_FORMAT,
           "profile.db: profile 2 at 0x%" PRIx64
           ": index of 6 contexts at 0xffffffffffffffff does not fit the file of %zu",
           tiny.profile_off[2], tiny.profile.len);
}

static void rejects_an_index_that_does_not_ascend(void **state)
{
    uint64_t off = tiny.index_off[1] + 2 * cn_hpc_profile_index_size;

    (void)state;
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_profile_index_layout, off, "context", 1);
    expect(CN_ERR_FORMAT,
           "profile.db: profile 1: index at 0x%" PRIx64
           ": context 1 after 1, not ascending",
           off);
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_profile_index_layout, off, "context", 2);
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_profile_index_layout, off, "start", 12);
    expect(CN_ERR_FORMAT,
           "profile.db: profile 1: index at 0x%" PRIx64
           ": context 1 has values 1 to 12 of 11",
           off - cn_hpc_profile_index_size);
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_profile_index_layout, off, "start", 0);
    expect(CN_ERR_FORMAT,
           "profile.db: profile 1: index at 0x%" PRIx64
           ": context 1 has values 1 to 0 of 11",
           off - cn_hpc_profile_index_size);
}

static void rejects_contexts_that_do_not_exist(void **state)
{
    uint64_t off = tiny.index_off[1] + 5 * cn_hpc_profile_index_size;

    (void)state;
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_profile_index_layout, off, "context", 9);
    expect(CN_ERR_FORMAT,
           "profile.db: profile 1: index at 0x%" PRIx64
           ": context 9 does not exist, ids end at 9",
           off);
}

static void hands_out_what_comes_before_the_damage(void **state)
{
    uint64_t off = tiny.index_off[1] + 4 * cn_hpc_profile_index_size;
    struct cn_hpc_v4_files files;
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_profile_index_layout, off, "context", 0);
    cn_tiny_v4_files(&tiny, &files);
    assert_true(cn_hpc_v4_open_bytes(&db, &files, &err));
    assert_true(cn_profile_values(db, 1, 0, UINT32_MAX, &cursor, &err));
    assert_int_equal(cn_values_next(&cursor, &batch, &err), CN_ITEM);
    assert_int_equal(batch.count, 7);
    assert_int_equal(err.kind, CN_ERR_NONE);
    assert_int_equal(cn_values_next(&cursor, &batch, &err), CN_FAIL);
    assert_int_equal(cn_values_next(&cursor, &batch, &err), CN_FAIL);
    cn_database_close(db);
}

static void rejects_odd_identities(void **state)
{
    uint64_t section = cn_u64_get((const uint8_t *)tiny.profile.chars + 0x28);
    uint64_t end = section + cn_u64_get((const uint8_t *)tiny.profile.chars + 0x20);

    (void)state;
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_profile_layout, tiny.profile_off[1],
                   "tuple_off", 8);
    expect(CN_ERR_FORMAT,
           "profile.db: profile 1 at 0x%" PRIx64
           ": identity tuple at 0x8 does not fit its section, 0x%" PRIx64
           " to 0x%" PRIx64,
           tiny.profile_off[1], section, end);
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_profile_layout, tiny.profile_off[1],
                   "tuple_off", tiny.tuple_off[1]);
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_tuple_layout, tiny.tuple_off[1], "id_count",
                   UINT16_MAX);
    expect(CN_ERR_FORMAT,
           "profile.db: profile 1 at 0x%" PRIx64 ": identity tuple at 0x%" PRIx64
           " does not fit its section, 0x%" PRIx64 " to 0x%" PRIx64,
           tiny.profile_off[1], tiny.tuple_off[1], section, end);
    /* Let the section reach over the values, so that a long tuple fits. */
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_section_layout, section_off(CN_HPC_ID_TUPLES),
                   "len", tiny.profile.len - tiny.tuple_off[1] - CN_HPC_FOOTER_LEN);
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_tuple_layout, tiny.tuple_off[1], "id_count",
                   17);
    expect(CN_ERR_LIMIT,
           "profile.db: profile 1 at 0x%" PRIx64 ": identity tuple at 0x%" PRIx64
           " has 17 ids, can read 16",
           tiny.profile_off[1], tiny.tuple_off[1]);
}

static void rejects_a_database_without_profiles(void **state)
{
    (void)state;
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_profiles_header_layout,
                   section_start(&tiny.profile, CN_HPC_PROFILE_INFOS), "profile_count",
                   0);
    expect(CN_ERR_FORMAT, "profile.db: no profiles, not even a summary");
}

static void rejects_a_context_out_of_proportion(void **state)
{
    struct cn_hpc_v4_files files;
    struct cn_error err = {0};
    struct cn_database *db;

    (void)state;
    cn_tiny_v4_set(&tiny.profile, &cn_hpc_profile_index_layout,
                   tiny.index_off[0] + 8 * cn_hpc_profile_index_size, "context",
                   UINT32_MAX);
    cn_tiny_v4_files(&tiny, &files);
    files.has_cct = false;
    assert_false(cn_hpc_v4_open_bytes(&db, &files, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_non_null(strstr(err.text, "profile.db: context 4294967295 of the summary"));
}

static void rejects_damaged_planes_of_contexts(void **state)
{
    uint64_t off = tiny.context_index_off[2] + cn_hpc_context_index_size;

    (void)state;
    cn_tiny_v4_set(&tiny.cct, &cn_hpc_context_index_layout, off, "metric", 0);
    expect(CN_ERR_FORMAT,
           "cct.db: context 2: index at 0x%" PRIx64 ": metric 0 after 1, not ascending",
           off);
    cn_tiny_v4_set(&tiny.cct, &cn_hpc_context_index_layout, off, "metric", 3);
    cn_tiny_v4_set(&tiny.cct, &cn_hpc_context_index_layout, off, "start", 5);
    expect(CN_ERR_FORMAT,
           "cct.db: context 2: index at 0x%" PRIx64 ": metric 1 has values 0 to 5 of 4",
           off - cn_hpc_context_index_size);
    cn_tiny_v4_set(&tiny.cct, &cn_hpc_context_index_layout, off, "start", 2);
    cn_tiny_v4_set(&tiny.cct, &cn_hpc_context_value_layout, tiny.context_values_off[4],
                   "profile", 3);
    expect(CN_ERR_FORMAT,
           "cct.db: context 4: value at 0x%" PRIx64
           ": profile 3 does not exist: there are 3",
           tiny.context_values_off[4]);
    cn_tiny_v4_set(&tiny.cct, &cn_hpc_context_info_layout, tiny.info_off[2], "values_off",
                   tiny.cct.len);
    expect(CN_ERR_FORMAT,
           "cct.db: context 2 at 0x%" PRIx64
           ": 4 values at 0x%zx do not fit the file of %zu",
           tiny.info_off[2], tiny.cct.len, tiny.cct.len);
}

static void rejects_damaged_timelines(void **state)
{
    (void)state;
    cn_tiny_v4_set(&tiny.trace, &cn_hpc_trace_layout, tiny.trace_off[0], "end_off",
                   tiny.samples_off + 13);
    expect(CN_ERR_FORMAT,
           "trace.db: trace 0 at 0x%" PRIx64
           ": 13 bytes of samples are no multiple of 12",
           tiny.trace_off[0]);
    cn_tiny_v4_set(&tiny.trace, &cn_hpc_trace_layout, tiny.trace_off[0], "end_off",
                   UINT64_MAX);
    expect(CN_ERR_FORMAT,
           "trace.db: trace 0 at 0x%" PRIx64 ": samples from 0x%" PRIx64
           " to 0xffffffffffffffff do not fit the file of %zu",
           tiny.trace_off[0], tiny.samples_off, tiny.trace.len);
}

/* Metrics that all point at one long array would cost their product. */
static void rejects_metrics_that_share_instances(void **state)
{
    enum { METRICS = 64, INSTANCES = 128 };
    uint64_t end = tiny.meta.len - CN_HPC_FOOTER_LEN;
    uint8_t head[cn_hpc_metrics_header_size], metric[cn_hpc_metric_size],
        scope[cn_hpc_scope_size], instance[cn_hpc_scope_instance_size];
    uint64_t scope_off = end + 0x20, instances_off = scope_off + cn_hpc_scope_size;
    uint64_t metrics_off = instances_off + INSTANCES * cn_hpc_scope_instance_size;
    struct cn_text *meta = &tiny.meta;

    (void)state;
    meta->len = end;
    cn_hpc_metrics_header_encode(
        &(struct cn_hpc_metrics_header){metrics_off, METRICS, cn_hpc_metric_size,
                                        cn_hpc_scope_instance_size, cn_hpc_statistic_size,
                                        scope_off, 1, cn_hpc_scope_size},
        head);
    cn_text_add(meta, (const char *)head, sizeof(head));
    cn_text_fill(meta, '\0', 0x20 - sizeof(head));
    cn_hpc_scope_encode(&(struct cn_hpc_scope){end + 0x1f, 0, 0}, scope);
    cn_text_add(meta, (const char *)scope, sizeof(scope));
    cn_hpc_scope_instance_encode(&(struct cn_hpc_scope_instance){scope_off, 1}, instance);
    for (size_t i = 0; i < INSTANCES; i++)
        cn_text_add(meta, (const char *)instance, sizeof(instance));
    cn_hpc_metric_encode(
        &(struct cn_hpc_metric){end + 0x1f, instances_off, 0, INSTANCES, 0}, metric);
    for (size_t i = 0; i < METRICS; i++)
        cn_text_add(meta, (const char *)metric, sizeof(metric));
    cn_tiny_v4_set(meta, &cn_hpc_section_layout, section_off(CN_HPC_METRICS), "off", end);
    cn_tiny_v4_set(meta, &cn_hpc_section_layout, section_off(CN_HPC_METRICS), "len",
                   meta->len - end);
    cn_text_add(meta, CN_HPC_META_FOOTER, CN_HPC_FOOTER_LEN);
    expect(CN_ERR_FORMAT,
           "meta.db: metric 2 at 0x%" PRIx64 ": scope instances at 0x%" PRIx64
           " overlap with others: 6144 bytes in a section of 4144",
           metrics_off + UINT64_C(2) * cn_hpc_metric_size, instances_off);
}

/* Every length below the file's own fails, or, where cct.db or trace.db can be done
 * without, is told. */
static void notices_every_truncation(void **state)
{
    const struct cn_text *files[] = {&tiny.meta, &tiny.profile, &tiny.cct, &tiny.trace};

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        for (size_t len = 0; len < files[i]->len; len++) {
            struct cn_bytes bytes = {(const uint8_t *)files[i]->chars, len};
            struct cn_hpc_v4_files view;
            struct cn_error err = {0};
            struct cn_database *db;

            cn_tiny_v4_files(&tiny, &view);
            *(struct cn_bytes *[]){&view.meta, &view.profile, &view.cct, &view.trace}[i] =
                bytes;
            if (cn_hpc_v4_open_bytes(&db, &view, &err)) {
                assert_true(i >= 2);
                assert_non_null(db->warnings);
                cn_database_close(db);
            } else {
                assert_true(i < 2);
                assert_int_equal(err.kind, CN_ERR_FORMAT);
            }
            (void)cn_fuzz_v4_run(i, bytes.ptr, bytes.len);
        }
}

static void survives_flipped_bits(void **state)
{
    static const struct cn_tiny_options options[] = {{.layout = CN_TINY_FINAL},
                                                     {.layout = CN_TINY_DRAFT_A}};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct cn_tiny_v4 copy;
        const struct cn_text *files[] = {&copy.meta, &copy.profile, &copy.cct,
                                         &copy.trace};

        cn_tiny_v4_init(&copy, &options[k]);
        for (unsigned i = 0; i < 4; i++)
            for (size_t bit = 0; bit < files[i]->len * 8; bit += cn_test_bit_step()) {
                files[i]->chars[bit / 8] ^= (char)(1 << bit % 8);
                (void)cn_fuzz_v4_run(i, (const uint8_t *)files[i]->chars, files[i]->len);
                files[i]->chars[bit / 8] ^= (char)(1 << bit % 8);
            }
        cn_tiny_v4_done(&copy);
    }
}

#define DAMAGE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DAMAGE(rejects_a_foreign_file),
        DAMAGE(rejects_a_newer_major_version),
        DAMAGE(says_that_a_footer_is_missing),
        DAMAGE(rejects_sections_outside_the_file),
        DAMAGE(rejects_overlapping_sections),
        DAMAGE(rejects_absurd_counts),
        DAMAGE(rejects_records_that_are_too_short),
        DAMAGE(rejects_strings_outside_their_section),
        DAMAGE(rejects_strings_without_an_end),
        DAMAGE(rejects_pointers_beside_a_scope),
        DAMAGE(rejects_pointers_beside_a_module),
        DAMAGE(rejects_pointers_beside_a_function),
        DAMAGE(rejects_too_few_flex_words),
        DAMAGE(rejects_contexts_that_do_not_fit_their_list),
        DAMAGE(rejects_context_id_zero),
        DAMAGE(rejects_child_lists_outside_the_section),
        DAMAGE(ends_a_cycle_of_contexts),
        DAMAGE(rejects_values_outside_the_file),
        DAMAGE(rejects_an_index_that_does_not_ascend),
        DAMAGE(rejects_contexts_that_do_not_exist),
        DAMAGE(hands_out_what_comes_before_the_damage),
        DAMAGE(rejects_odd_identities),
        DAMAGE(rejects_a_database_without_profiles),
        DAMAGE(rejects_a_context_out_of_proportion),
        DAMAGE(rejects_damaged_planes_of_contexts),
        DAMAGE(rejects_damaged_timelines),
        DAMAGE(rejects_metrics_that_share_instances),
        DAMAGE(notices_every_truncation),
        cmocka_unit_test(survives_flipped_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
