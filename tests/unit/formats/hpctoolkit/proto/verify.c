#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "base/text.h"
#include "formats/hpctoolkit/proto/format.h"
#include "formats/hpctoolkit/proto/proto.h"
#include "formats/hpctoolkit/sparse/format.h"
#include "support/data.h"
#include "support/effort.h"
#include "support/proto_files.h"

enum { CONTEXTS = 2, FILES = 5, FUNCTIONS = 6 };

static void on_finding(void *arg, const struct cn_finding *finding)
{
    cn_text_printf(arg, "%s %s 0x%llx %s: %s\n", finding->is_error ? "error" : "warning",
                   finding->file, (unsigned long long)finding->off, finding->rule,
                   finding->text);
}

static void verify(const struct cn_proto_files *files, struct cn_text *found)
{
    struct cn_hpc_proto_files view = cn_proto_files_view(files);
    struct cn_error err = {0};

    assert_true(cn_hpc_proto_verify_bytes(&view, NULL, on_finding, found, &err));
}

/* Among the findings is one that starts like this, and the sample has it only
 * now. */
static void must_find(const struct cn_proto_files *files, const char *start)
{
    struct cn_text found = {0};
    const char *line;

    verify(files, &found);
    line = strstr(cn_text_str(&found), start);
    if (!line || (line != found.chars && line[-1] != '\n'))
        fail_msg("no \"%s\" in:\n%s", start, cn_text_str(&found));
    cn_text_done(&found);
}

/* The same at any offset. */
static void must_find_rule(const struct cn_proto_files *files, const char *severity,
                           const char *file, const char *rule)
{
    struct cn_text found = {0};
    char line_severity[16], line_file[32], line_rule[64];
    bool is_found = false;

    verify(files, &found);
    for (const char *line = cn_text_str(&found); line && !is_found;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        is_found = sscanf(line, "%15s %31s %*s %63[^:]", line_severity, line_file,
                          line_rule) == 3 &&
                   strcmp(line_severity, severity) == 0 && strcmp(line_file, file) == 0 &&
                   strcmp(line_rule, rule) == 0;
    if (!is_found)
        fail_msg("no %s %s %s in:\n%s", severity, file, rule, cn_text_str(&found));
    cn_text_done(&found);
}

static uint8_t *section_word(struct cn_proto_files *files, size_t i, size_t word)
{
    return files->bytes[CN_PROTO_META] + cn_hpc_proto_header_size +
           i * cn_hpc_proto_section_size + word * 8;
}

static uint8_t *section(struct cn_proto_files *files, size_t i)
{
    return files->bytes[CN_PROTO_META] + cn_u64_be_get(section_word(files, i, 1));
}

static void what_we_write_breaks_no_rule(void **state)
{
    struct cn_proto_files files;
    struct cn_text found = {0};

    (void)state;
    cn_proto_files_init(&files);
    verify(&files, &found);
    assert_null(strstr(cn_text_str(&found), "error"));
    cn_text_done(&found);
    cn_proto_files_done(&files);
}

static void finds_broken_frames(void **state)
{
    static const enum cn_proto_file list[] = {CN_PROTO_PROFILE, CN_PROTO_CCT,
                                              CN_PROTO_TRACE};
    static const char *const names[] = {"profile.db", "cct.db", "trace.db"};
    struct cn_proto_files files;
    char expected[64];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint8_t *bytes;

        cn_proto_files_init(&files);
        bytes = files.bytes[list[i]];
        bytes[CN_HPC_SPARSE_MAGIC_LEN] = 9;
        (void)snprintf(expected, sizeof(expected), "error %s 0x10 version: version 9.0",
                       names[i]);
        must_find(&files, expected);
        bytes[CN_HPC_SPARSE_MAGIC_LEN] = 1;
        bytes[0x60] = 1;
        (void)snprintf(expected, sizeof(expected), "warning %s 0x60 header-padding",
                       names[i]);
        must_find(&files, expected);
        bytes[0x16] = 1;
        (void)snprintf(expected, sizeof(expected), "error %s 0x16 section-count",
                       names[i]);
        must_find(&files, expected);
        bytes[0] = 'h';
        (void)snprintf(expected, sizeof(expected), "error %s 0x0 magic", names[i]);
        must_find(&files, expected);
        cn_proto_files_done(&files);
    }
}

static void finds_missing_footers(void **state)
{
    struct cn_proto_files files;

    (void)state;
    cn_proto_files_init(&files);
    files.bytes[CN_PROTO_META][files.len[CN_PROTO_META] - 1] = 'x';
    files.bytes[CN_PROTO_PROFILE][files.len[CN_PROTO_PROFILE] - 1] = 'x';
    files.bytes[CN_PROTO_CCT][files.len[CN_PROTO_CCT] - 1] = 'x';
    must_find_rule(&files, "error", "profile.db", "footer");
    must_find_rule(&files, "error", "cct.db", "footer");
    must_find_rule(&files, "warning", "meta.db", "footer");
    cn_proto_files_done(&files);
}

static void finds_missing_files(void **state)
{
    struct cn_proto_files files;

    (void)state;
    cn_proto_files_init(&files);
    free(files.bytes[CN_PROTO_CCT]);
    files.bytes[CN_PROTO_CCT] = NULL;
    must_find(&files, "error cct.db 0x0 file-missing");
    cn_proto_files_done(&files);
}

static void finds_broken_values_of_profiles(void **state)
{
    struct cn_proto_files files;
    struct cn_hpc_sparse_profile record;
    uint8_t *at, *value, *index;

    (void)state;
    cn_proto_files_init(&files);
    at = files.bytes[CN_PROTO_PROFILE] + CN_HPC_SPARSE_HEADER_LEN +
         cn_hpc_sparse_profile_size;
    assert_true(cn_hpc_sparse_profile_decode(
        (struct cn_bytes){at, cn_hpc_sparse_profile_size}, &record));
    value = files.bytes[CN_PROTO_PROFILE] + record.block_off;
    index = value + record.value_count * cn_hpc_sparse_profile_value_size;
    cn_u16_be_put(value + 8, 999);
    must_find_rule(&files, "error", "profile.db", "metric-id");
    cn_u16_be_put(value + 8, cn_u16_be_get(value + 18));
    must_find_rule(&files, "error", "profile.db", "metric-unique");
    cn_f64_be_put(value, 0);
    must_find_rule(&files, "warning", "profile.db", "zero-value");
    cn_u16_be_put(index + cn_hpc_sparse_profile_index_size * record.context_count, 7);
    must_find_rule(&files, "error", "profile.db", "end-marker");
    cn_u32_be_put(index + cn_hpc_sparse_profile_index_size, 0);
    must_find_rule(&files, "error", "profile.db", "contexts-sorted");
    cn_u64_be_put(index + cn_hpc_sparse_profile_index_size + 4, UINT64_MAX);
    must_find_rule(&files, "error", "profile.db", "index-start");
    cn_u64_be_put(at + 0x2c, UINT64_MAX - 3);
    must_find(&files, "error profile.db 0xb4 values-bounds");
    cn_u64_be_put(at, 3);
    must_find(&files, "error profile.db 0x3 tuple-bounds");
    cn_proto_files_done(&files);
}

/* A value that only one of the files has. */
static void finds_files_that_do_not_agree(void **state)
{
    struct cn_proto_files files;
    struct cn_hpc_sparse_context record;
    uint8_t *at;

    (void)state;
    cn_proto_files_init(&files);
    at = files.bytes[CN_PROTO_CCT] + CN_HPC_SPARSE_HEADER_LEN;
    do {
        assert_true(cn_hpc_sparse_context_decode(
            (struct cn_bytes){at, cn_hpc_sparse_context_size}, &record));
        at += cn_hpc_sparse_context_size;
    } while (record.value_count == 0);
    cn_f64_be_put(files.bytes[CN_PROTO_CCT] + record.block_off, 123456);
    must_find(&files, "error cct.db 0x80 transpose: context 0: metric");
    cn_proto_files_done(&files);
}

static void finds_broken_traces(void **state)
{
    struct cn_proto_files files;
    struct cn_hpc_sparse_trace record;
    uint8_t *at, *sample;

    (void)state;
    cn_proto_files_init(&files);
    at = files.bytes[CN_PROTO_TRACE] + CN_HPC_SPARSE_HEADER_LEN;
    assert_true(cn_hpc_sparse_trace_decode(
        (struct cn_bytes){at, cn_hpc_sparse_trace_size}, &record));
    sample = files.bytes[CN_PROTO_TRACE] + record.begin_off;
    cn_u64_be_put(sample, UINT64_MAX);
    must_find(&files, "error trace.db 0x28 trace-range: samples from");
    must_find_rule(&files, "error", "trace.db", "trace-time");
    cn_u32_be_put(sample + 8, 54321);
    must_find_rule(&files, "warning", "trace.db", "trace-context");
    cn_u32_be_put(at, 0);
    must_find(&files, "error trace.db 0x80 trace-profile: profile 0 is a summary");
    cn_u64_be_put(at + 0x0e, record.end_off + 1);
    must_find(&files, "error trace.db 0x80 trace-size: trace 0");
    cn_proto_files_done(&files);
}

static void finds_broken_contexts(void **state)
{
    struct cn_proto_files files;
    uint8_t *roots;
    char expected[64];
    unsigned long long off;

    (void)state;
    cn_proto_files_init(&files);
    roots = section(&files, CONTEXTS) + cn_hpc_proto_contexts_header_size;
    off = (unsigned long long)(roots - files.bytes[CN_PROTO_META]);
    /* The function of the first root: one byte beside a record. */
    roots[cn_hpc_proto_context_size + cn_hpc_proto_lexical_size + 7] ^= 1;
    (void)snprintf(expected, sizeof(expected), "error meta.db 0x%llx pointer", off);
    must_find(&files, expected);
    /* The second root has the id of the first. */
    memcpy(roots + cn_hpc_proto_context_size + roots[0x15], roots, sizeof(uint32_t));
    must_find_rule(&files, "error", "meta.db", "context-id-unique");
    cn_u64_be_put(roots + 4, off);
    must_find_rule(&files, "error", "meta.db", "contexts-overlap");
    cn_u32_be_put(roots, 0);
    (void)snprintf(expected, sizeof(expected), "error meta.db 0x%llx context-id", off);
    must_find(&files, expected);
    roots[0x15] = 2;
    (void)snprintf(expected, sizeof(expected), "error meta.db 0x%llx lexical-size", off);
    must_find(&files, expected);
    cn_proto_files_done(&files);
}

static void finds_broken_tables(void **state)
{
    struct cn_proto_files files;
    uint8_t *table;

    (void)state;
    cn_proto_files_init(&files);
    table = section(&files, FILES) + cn_hpc_proto_table_size;
    cn_u64_be_put(table + 4, 1);
    must_find(&files, "error meta.db 0x1 string-bounds: file path");
    table = section(&files, FUNCTIONS);
    cn_u16_be_put(table + 4, 3);
    must_find_rule(&files, "error", "meta.db", "array-bounds");
    cn_u64_be_put(section_word(&files, FUNCTIONS, 0), UINT64_MAX);
    must_find(&files, "error meta.db 0x0 frame: section Functions of");
    cn_proto_files_done(&files);
}

static void what_others_write_breaks_no_rule(void **state)
{
    static const char *const names[] = {"hpctoolkit/proto/synth-small-7sec",
                                        "hpctoolkit/proto/unfinished-small"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char *path = cn_test_data(names[i]);
        struct cn_text found = {0};
        struct cn_error err = {0};

        assert_true(cn_hpc_proto_verify(path, NULL, on_finding, &found, &err));
        if (strstr(cn_text_str(&found), "error"))
            fail_msg("%s", cn_text_str(&found));
        cn_text_done(&found);
        free(path);
    }
}

/* With damage at any byte, the verifier ends. */
static void survives_damage_everywhere(void **state)
{
    struct cn_proto_files files;

    (void)state;
    cn_proto_files_init(&files);
    for (unsigned file = 0; file < CN_PROTO_FILE_COUNT; file++)
        for (size_t i = 0; i < files.len[file] * 8; i += 3 * cn_test_bit_step()) {
            struct cn_bytes bytes = {files.bytes[file], files.len[file]};

            files.bytes[file][i / 8] ^= (uint8_t)(1u << i % 8);
            (void)cn_proto_files_try(&files, file, bytes);
            files.bytes[file][i / 8] ^= (uint8_t)(1u << i % 8);
        }
    cn_proto_files_done(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_we_write_breaks_no_rule),
        cmocka_unit_test(finds_broken_frames),
        cmocka_unit_test(finds_missing_footers),
        cmocka_unit_test(finds_missing_files),
        cmocka_unit_test(finds_broken_values_of_profiles),
        cmocka_unit_test(finds_files_that_do_not_agree),
        cmocka_unit_test(finds_broken_traces),
        cmocka_unit_test(finds_broken_contexts),
        cmocka_unit_test(finds_broken_tables),
        cmocka_unit_test(survives_damage_everywhere),
    };
    const struct CMUnitTest on_data[] = {
        cmocka_unit_test(what_others_write_breaks_no_rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + CN_TEST_ON_DATA(on_data);
}
