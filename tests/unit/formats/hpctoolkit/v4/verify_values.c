/* The rules of profile.db, cct.db, trace.db and the YAML files, each with a database
 * that breaks it. */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/findings.h"
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

#define SET(file, record, off, field, value) \
    cn_tiny_v4_set(&tiny.file, &record##_layout, off, field, value)

#define EXPECT(...) cn_findings_expect(&tiny, __VA_ARGS__)

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static void checks_who_profiles_are(void **state)
{
    uint64_t summary = tiny.profile_off[0], thread = tiny.profile_off[1];

    (void)state;
    SET(profile, cn_hpc_profile, thread, "flags", 3);
    EXPECT("warning profile.db 0x%" PRIx64
           " summary-extra: profile 1 is another summary: "
           "hpcviewer takes it for a thread",
           thread);
    EXPECT("warning profile.db 0x%" PRIx64
           " reserved-bits: profile 1: reserved bits of flags 0x3 are set",
           thread);
    SET(profile, cn_hpc_profile, summary, "flags", 0);
    EXPECT("error profile.db 0x%" PRIx64 " summary-first: profile 0 is not a summary",
           summary);
    SET(profile, cn_hpc_profile, summary, "tuple_off", tiny.tuple_off[1]);
    EXPECT("warning profile.db 0x%" PRIx64
           " summary-tuple: the summary has an identity tuple at 0x%" PRIx64,
           summary, tiny.tuple_off[1]);
    SET(profile, cn_hpc_profile, thread, "tuple_off", 0);
    EXPECT("error profile.db 0x%" PRIx64
           " tuple-missing: profile 1 has no identity tuple",
           thread);
}

static void checks_identities(void **state)
{
    uint64_t tuple = tiny.tuple_off[2], id = tuple + cn_hpc_tuple_size;
    uint64_t section = cn_u64_get((const uint8_t *)tiny.profile.chars + 0x28);
    uint64_t end = section + cn_u64_get((const uint8_t *)tiny.profile.chars + 0x20);

    (void)state;
    SET(profile, cn_hpc_identity, id + cn_hpc_identity_size, "physical", 77);
    EXPECT("warning profile.db 0x%" PRIx64
           " identity-physical: logical id 1, but physical id 77",
           id + cn_hpc_identity_size);
    SET(profile, cn_hpc_identity, id, "kind", 99);
    EXPECT("error profile.db 0x%" PRIx64
           " identity-kind: kind 99 has no name, there are 4",
           id);
    SET(profile, cn_hpc_profile, tiny.profile_off[2], "tuple_off", tiny.tuple_off[1]);
    EXPECT("warning profile.db 0x%" PRIx64
           " tuple-unique: another profile has the same identity",
           tiny.tuple_off[1]);
    SET(profile, cn_hpc_tuple, tiny.tuple_off[1], "id_count", 60000);
    EXPECT("error profile.db 0x%" PRIx64 " tuple-bounds: identity tuple at 0x%" PRIx64
           " does not fit its section, 0x%" PRIx64 " to 0x%" PRIx64,
           tiny.tuple_off[1], tiny.tuple_off[1], section, end);
}

static void checks_where_profile_values_are(void **state)
{
    uint64_t off = tiny.profile_off[1];

    (void)state;
    SET(profile, cn_hpc_profile, off, "values_off", tiny.values_off[1] - 8);
    EXPECT("error profile.db 0x%" PRIx64 " values-before-index: %" PRIu64
           " bytes between values and index, padding is at most 7",
           off, tiny.index_off[1] - (tiny.values_off[1] - 8) - 11 * 10);
    SET(profile, cn_hpc_profile, off, "values_off", tiny.values_off[1] + 1);
    EXPECT("error profile.db 0x%" PRIx64 " alignment: values at 0x%" PRIx64
           " is not 2-byte aligned",
           tiny.values_off[1] + 1, tiny.values_off[1] + 1);
    SET(profile, cn_hpc_profile, off, "values_off", 0x50);
    EXPECT("error profile.db 0x50 block-in-section: values of profile 1 lie in section "
           "ProfileInfos");
    SET(profile, cn_hpc_profile, off, "values_off", tiny.values_off[2]);
    SET(profile, cn_hpc_profile, off, "index_off", tiny.index_off[2]);
    EXPECT("error profile.db 0x%" PRIx64
           " blocks-overlap: a block of values begins before "
           "the one before it ends at 0x%" PRIx64,
           tiny.values_off[2], tiny.index_off[2] + 6 * cn_hpc_profile_index_size);
    SET(profile, cn_hpc_profile, off, "value_count", 1000000);
    EXPECT("error profile.db 0x%" PRIx64 " values-bounds: 1000000 values at 0x%" PRIx64
           " do not fit the file of %zu",
           off, tiny.values_off[2], tiny.profile.len);
    SET(profile, cn_hpc_profile, off, "value_count", 11);
    SET(profile, cn_hpc_profile, off, "context_count", 4000000000);
    EXPECT("error profile.db 0x%" PRIx64 " index-bounds: index of 4000000000 contexts at "
           "0x%" PRIx64 " does not fit the file of %zu",
           off, tiny.index_off[2], tiny.profile.len);
}

static void checks_the_order_of_profile_values(void **state)
{
    uint64_t index = tiny.index_off[1], values = tiny.values_off[1];

    (void)state;
    SET(profile, cn_hpc_profile_index, index + 2 * cn_hpc_profile_index_size, "context",
        1);
    EXPECT("error profile.db 0x%" PRIx64
           " contexts-sorted: profile 1: context 1 after 1, not ascending",
           index + 2 * cn_hpc_profile_index_size);
    SET(profile, cn_hpc_profile_index, index, "start", 1);
    EXPECT("error profile.db 0x%" PRIx64
           " index-start: profile 1, context 0: values 1 to 1 of 11",
           index);
    SET(profile, cn_hpc_profile_index, index + cn_hpc_profile_index_size, "start", 99);
    EXPECT("error profile.db 0x%" PRIx64
           " index-start: profile 1, context 1: values 99 to 3 of 11",
           index + cn_hpc_profile_index_size);
    SET(profile, cn_hpc_profile_value, values + 4 * cn_hpc_profile_value_size, "metric",
        0);
    EXPECT("error profile.db 0x%" PRIx64
           " metrics-sorted: profile 1, context 1: metric 0 after 1, not ascending",
           values + 4 * cn_hpc_profile_value_size);
}

static void warns_about_empty_ranges(void **state)
{
    uint64_t context = tiny.index_off[1] + cn_hpc_profile_index_size;
    uint64_t metric = tiny.context_index_off[2] + cn_hpc_context_index_size;

    (void)state;
    SET(profile, cn_hpc_profile_index, context + cn_hpc_profile_index_size, "start", 1);
    EXPECT("warning profile.db 0x%" PRIx64 " empty-context: context 1 has no values",
           context);
    SET(cct, cn_hpc_context_index, metric, "start", 4);
    EXPECT("warning cct.db 0x%" PRIx64 " empty-metric: metric 3 has no values", metric);
}

static void checks_profile_values(void **state)
{
    uint64_t first = tiny.values_off[1], second = first + cn_hpc_profile_value_size;

    (void)state;
    SET(profile, cn_hpc_profile_value, first, "metric", 500);
    EXPECT("error profile.db 0x%" PRIx64
           " metric-id: metric id 500 is not listed in meta.db",
           first);
    SET(profile, cn_hpc_profile_value, first, "value", 0);
    EXPECT("warning profile.db 0x%" PRIx64 " zero-value: a value of 0 is written out",
           first);
    SET(profile, cn_hpc_profile_value, second, "value", UINT64_C(0x7ff0000000000000));
    EXPECT("warning profile.db 0x%" PRIx64 " value-finite: value inf is not finite",
           second);
}

static void checks_where_context_values_are(void **state)
{
    uint64_t off = tiny.info_off[2];

    (void)state;
    SET(cct, cn_hpc_context_info, off, "values_off", tiny.context_values_off[2] + 2);
    EXPECT("error cct.db 0x%" PRIx64 " alignment: values at 0x%" PRIx64
           " is not 4-byte aligned",
           tiny.context_values_off[2] + 2, tiny.context_values_off[2] + 2);
    SET(cct, cn_hpc_context_info, off, "values_off", tiny.context_values_off[1]);
    SET(cct, cn_hpc_context_info, off, "index_off", tiny.context_index_off[1]);
    EXPECT("error cct.db 0x%" PRIx64
           " blocks-overlap: a block of values begins before the "
           "one before it ends at 0x%" PRIx64,
           tiny.context_values_off[1],
           tiny.context_index_off[1] + 2 * cn_hpc_context_index_size);
    SET(cct, cn_hpc_context_info, off, "values_off", 0x30);
    EXPECT("error cct.db 0x30 block-in-section: values of context 2 lie in section "
           "CtxInfos");
    SET(cct, cn_hpc_context_info, off, "value_count", 1000000);
    EXPECT("error cct.db 0x%" PRIx64
           " values-bounds: 1000000 values at 0x30 do not fit the file of %zu",
           off, tiny.cct.len);
    SET(cct, cn_hpc_context_info, off, "value_count", 4);
    SET(cct, cn_hpc_context_info, off, "metric_count", 60000);
    EXPECT("error cct.db 0x%" PRIx64 " index-bounds: index of 60000 metrics at 0x%" PRIx64
           " does not fit the file of %zu",
           off, tiny.context_index_off[1], tiny.cct.len);
}

static void checks_context_values(void **state)
{
    uint64_t values = tiny.context_values_off[2], index = tiny.context_index_off[2];

    (void)state;
    SET(cct, cn_hpc_context_value, values + cn_hpc_context_value_size, "profile", 1);
    EXPECT("error cct.db 0x%" PRIx64
           " profiles-sorted: context 2, metric 1: profile 1 after 1, not ascending",
           values + cn_hpc_context_value_size);
    SET(cct, cn_hpc_context_value, values + cn_hpc_context_value_size, "profile", 9);
    EXPECT("error cct.db 0x%" PRIx64
           " profile-index: profile 9 does not exist, there are 3",
           values + cn_hpc_context_value_size);
    SET(cct, cn_hpc_context_value, values, "profile", 0);
    EXPECT("error cct.db 0x%" PRIx64
           " profile-index: profile 0 is a summary, not a thread",
           values);
    SET(cct, cn_hpc_context_index, index, "metric", 500);
    EXPECT("error cct.db 0x%" PRIx64 " metric-id: metric id 500 is not listed in meta.db",
           index);
    EXPECT("error cct.db 0x%" PRIx64
           " metrics-sorted: context 2: metric 3 after 500, not ascending",
           index + cn_hpc_context_index_size);
    SET(cct, cn_hpc_context_index, index + cn_hpc_context_index_size, "start", 9);
    EXPECT("error cct.db 0x%" PRIx64
           " index-start: context 2, metric 3: values 9 to 4 of 4",
           index + cn_hpc_context_index_size);
}

static void checks_the_number_of_contexts(void **state)
{
    uint64_t section = cn_u64_get((const uint8_t *)tiny.cct.chars + 0x18);

    (void)state;
    SET(cct, cn_hpc_context_infos_header, section, "context_count", 5);
    EXPECT("error cct.db 0x%" PRIx64
           " context-count: 5 contexts, but meta.db lists context 7",
           section);
    SET(cct, cn_hpc_context_infos_header, section, "context_count", 8);
    EXPECT("error cct.db 0x%" PRIx64
           " context-count: 8 contexts, but profile.db has values of context 8",
           section);
}

static void compares_cct_with_profile(void **state)
{
    (void)state;
    SET(cct, cn_hpc_context_value, tiny.context_values_off[2], "value", bits_of(0.5));
    EXPECT("error cct.db 0x%" PRIx64
           " transpose: context 2: metric 1 of profile 1 is 0.5, "
           "profile.db has another value or none",
           tiny.info_off[2]);
    SET(cct, cn_hpc_context_info, tiny.info_off[3], "value_count", 0);
    SET(cct, cn_hpc_context_info, tiny.info_off[3], "metric_count", 0);
    EXPECT("error cct.db 0x%" PRIx64 " transpose: context 3: metric 1 of profile 1 is "
           "missing, profile.db has 131",
           tiny.info_off[3]);
}

static void finds_values_that_profiles_lack(void **state)
{
    (void)state;
    /* The last two values of profile 2, those of context 7. A zero counts as none. */
    for (unsigned i = 9; i < 11; i++)
        SET(profile, cn_hpc_profile_value,
            tiny.values_off[2] + i * cn_hpc_profile_value_size, "value", 0);
    EXPECT("error cct.db 0x%" PRIx64
           " transpose: context 7: metric 1 of profile 2 is 271, "
           "profile.db has another value or none",
           tiny.info_off[7]);
}

static void compares_the_summary_with_threads(void **state)
{
    (void)state;
    SET(profile, cn_hpc_profile_value, tiny.values_off[0], "value", bits_of(17));
    EXPECT("warning profile.db 0x%" PRIx64 " summary-differs: context 0: CPUTIME (sec), "
           "scope execution, sum of $$ is 17, threads give 306",
           tiny.profile_off[0]);
}

static void counts_summaries_that_differ(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 12; i++)
        SET(profile, cn_hpc_profile_value,
            tiny.values_off[0] + i * cn_hpc_profile_value_size, "value", bits_of(17));
    EXPECT("warning profile.db 0x%" PRIx64 " summary-differs-total: the summary of 7 "
           "contexts differs from what the threads give",
           tiny.profile_off[0]);
}

static void warns_about_odd_traces(void **state)
{
    uint64_t first = tiny.trace_off[0];
    uint64_t section = cn_u64_get((const uint8_t *)tiny.trace.chars + 0x18);

    (void)state;
    SET(trace, cn_hpc_trace, first, "begin_off", tiny.samples_off + cn_hpc_sample_size);
    EXPECT("warning trace.db 0x%" PRIx64 " trace-alignment: trace 0 at 0x%" PRIx64
           " is not 8-byte aligned",
           first, tiny.samples_off + cn_hpc_sample_size);
    SET(trace, cn_hpc_traces_header, section, "trace_count", 1);
    EXPECT("warning trace.db 0x%" PRIx64 " trace-count: 1 traces, but 3 profiles: older "
           "hpcviewers expect one for each thread",
           section);
    SET(trace, cn_hpc_section, cn_hpc_file_header_size, "off", section + 8);
    EXPECT("warning trace.db 0x%" PRIx64
           " header-padding: 0x%02x between the file header "
           "and section CtxTraces at 0x%" PRIx64,
           section, (uint8_t)tiny.trace.chars[section], section + 8);
}

static void checks_traces(void **state)
{
    uint64_t first = tiny.trace_off[0], second = tiny.trace_off[1];
    uint64_t samples = tiny.samples_off;

    (void)state;
    SET(trace, cn_hpc_trace, second, "profile", 1);
    EXPECT("error trace.db 0x%" PRIx64
           " trace-unique: profile 1 has another trace already",
           second);
    EXPECT("warning trace.db 0x%" PRIx64 " trace-order: trace 1 belongs to profile 1: "
           "older hpcviewers expect 2",
           second);
    SET(trace, cn_hpc_trace, second, "profile", 0);
    EXPECT("error trace.db 0x%" PRIx64
           " trace-profile: profile 0 is a summary, not a thread",
           second);
    SET(trace, cn_hpc_trace, second, "profile", 8);
    EXPECT("error trace.db 0x%" PRIx64
           " trace-profile: profile 8 does not exist, there are 3",
           second);
    SET(trace, cn_hpc_trace, second, "begin_off", samples);
    SET(trace, cn_hpc_trace, second, "end_off", samples + cn_hpc_sample_size);
    EXPECT("error trace.db 0x%" PRIx64 " traces-overlap: a trace begins before the one "
           "before it ends at 0x%" PRIx64,
           samples, samples + 3 * cn_hpc_sample_size);
    SET(trace, cn_hpc_trace, first, "end_off", samples + 13);
    EXPECT("error trace.db 0x%" PRIx64 " trace-size: trace 0 from 0x%" PRIx64
           " to 0x%" PRIx64 " is no number of samples of 12 bytes",
           first, samples, samples + 13);
    SET(trace, cn_hpc_trace, first, "end_off", samples + 12000);
    EXPECT("error trace.db 0x%" PRIx64 " trace-bounds: trace 0 from 0x%" PRIx64
           " to 0x%" PRIx64 " does not fit the file of %zu",
           first, samples, samples + 12000, tiny.trace.len);
}

static void checks_samples(void **state)
{
    uint64_t second = tiny.samples_off + cn_hpc_sample_size;
    uint64_t section = cn_u64_get((const uint8_t *)tiny.trace.chars + 0x18);
    uint64_t time_ns = cn_u64_get((const uint8_t *)tiny.trace.chars + tiny.samples_off);

    (void)state;
    SET(trace, cn_hpc_sample, second, "time_ns", time_ns);
    EXPECT("warning trace.db 0x%" PRIx64
           " trace-time-equal: trace 0: two samples at %" PRIu64,
           second, time_ns);
    SET(trace, cn_hpc_sample, second, "time_ns", time_ns - 1);
    EXPECT("error trace.db 0x%" PRIx64
           " trace-time: trace 0: time runs backwards: %" PRIu64 " after %" PRIu64,
           second, time_ns - 1, time_ns);
    SET(trace, cn_hpc_sample, second, "context", 99);
    EXPECT("error trace.db 0x%" PRIx64
           " trace-context: trace 0: context 99 is not listed in meta.db",
           second);
    SET(trace, cn_hpc_sample, tiny.samples_off, "context", 0);
    SET(trace, cn_hpc_sample, second, "context", 0);
    EXPECT("error trace.db 0x%" PRIx64
           " trace-idle: trace 0: two samples in a row say not running",
           second);
    SET(trace, cn_hpc_traces_header, section, "begin_ns", time_ns + 1);
    SET(trace, cn_hpc_traces_header, section, "end_ns", time_ns + 1);
    EXPECT("error trace.db 0x%" PRIx64 " trace-range: samples from %" PRIu64
           " to %" PRIu64 " exceed the declared %" PRIu64 " to %" PRIu64,
           section, time_ns - 1,
           cn_u64_get((const uint8_t *)tiny.trace.chars + second + cn_hpc_sample_size),
           time_ns + 1, time_ns + 1);
}

static void accepts_a_wide_range_of_time(void **state)
{
    uint64_t section = cn_u64_get((const uint8_t *)tiny.trace.chars + 0x18);
    uint64_t time_ns = cn_u64_get((const uint8_t *)tiny.trace.chars + tiny.samples_off);
    uint64_t last_ns = cn_u64_get((const uint8_t *)tiny.trace.chars + tiny.samples_off +
                                  2 * cn_hpc_sample_size);

    (void)state;
    SET(trace, cn_hpc_traces_header, section, "begin_ns", time_ns - 1);
    EXPECT("warning trace.db 0x%" PRIx64 " trace-range-wide: samples from %" PRIu64
           " to %" PRIu64 ", declared are %" PRIu64 " to %" PRIu64,
           section, time_ns, last_ns, time_ns - 1, last_ns);
}

static void check_yaml(const char *name, const char *text, const char *expected)
{
    struct cn_hpc_v4_files files;
    struct cn_text found = {0};
    size_t error_count;

    cn_tiny_v4_files(&tiny, &files);
    files.yaml[0] = (struct cn_hpc_v4_yaml){name, {(const uint8_t *)text, strlen(text)}};
    cn_findings_list(&files, &found, &error_count);
    if (!strstr(cn_text_str(&found), expected))
        fail_msg("expected: %s\nfound: %s", expected, cn_text_str(&found));
    cn_text_done(&found);
}

static void checks_yaml(void **state)
{
    (void)state;
    check_yaml("default.yaml", "roots: {", "error metrics/default.yaml 0x0 yaml-parse: ");
    check_yaml("extra.yaml", "roots: {", "warning metrics/extra.yaml 0x0 yaml-parse: ");
    check_yaml("extra.yaml", "roots: []",
               "error metrics/default.yaml 0x0 file-missing: "
               "does not exist, but hpcviewer and Hatchet need it\n");
    check_yaml("default.yaml", "roots: []",
               "warning metrics/default.yaml 0x0 yaml-roots: presents no metric\n");
    check_yaml("default.yaml", "inputs: [{metric: m, scope: s, combine: max}]",
               "error metrics/default.yaml 0x0 yaml-input: input m, scope s, formula $$, "
               "combine max is 0 statistics of meta.db instead of one\n");
}

static void misses_files(void **state)
{
    struct cn_hpc_v4_files files;
    struct cn_text found = {0};
    size_t error_count;

    (void)state;
    cn_tiny_v4_files(&tiny, &files);
    files.has_cct = files.has_trace = false;
    files.profile.ptr = NULL;
    cn_findings_list(&files, &found, &error_count);
    assert_int_equal(error_count, 2);
    assert_non_null(strstr(cn_text_str(&found),
                           "error profile.db 0x0 file-missing: "
                           "does not exist, but a database needs it\n"));
    assert_non_null(strstr(cn_text_str(&found),
                           "error cct.db 0x0 file-missing: "
                           "does not exist, but a database needs it\n"));
    cn_text_done(&found);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(checks_who_profiles_are),
        TEST(checks_identities),
        TEST(checks_where_profile_values_are),
        TEST(checks_the_order_of_profile_values),
        TEST(checks_profile_values),
        TEST(checks_where_context_values_are),
        TEST(checks_context_values),
        TEST(checks_the_number_of_contexts),
        TEST(compares_cct_with_profile),
        TEST(finds_values_that_profiles_lack),
        TEST(compares_the_summary_with_threads),
        TEST(warns_about_empty_ranges),
        TEST(counts_summaries_that_differ),
        TEST(warns_about_odd_traces),
        TEST(checks_traces),
        TEST(checks_samples),
        TEST(accepts_a_wide_range_of_time),
        TEST(checks_yaml),
        TEST(misses_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
