/* The rules of frames and of meta.db, each with a database that breaks it. */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/hpctoolkit/span.h"
#include "model/contexts/context.h"
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

static uint64_t section_at(size_t section)
{
    return cn_hpc_file_header_size + section * cn_hpc_section_size;
}

static uint64_t section_start(size_t section)
{
    return cn_u64_get((const uint8_t *)tiny.meta.chars + section_at(section) + 8);
}

/* Overwrite a field of meta.db. */
#define SET(record, off, field, value) \
    cn_tiny_v4_set(&tiny.meta, &record##_layout, off, field, value)

#define EXPECT(...) cn_findings_expect(&tiny, __VA_ARGS__)

static void accepts_every_layout(void **state)
{
    (void)state;
    for (unsigned layout = CN_TINY_FINAL; layout <= CN_TINY_DRAFT_B; layout++) {
        for (unsigned grow = 0; grow <= 16; grow += 8) {
            struct cn_tiny_v4 good;
            struct cn_hpc_v4_files files;
            struct cn_text found = {0};
            size_t error_count;

            cn_tiny_v4_init(&good, &(struct cn_tiny_options){.layout = layout,
                                                             .grow = grow,
                                                             .minor = (uint8_t)grow,
                                                             .has_garbage = grow > 8});
            cn_tiny_v4_files(&good, &files);
            cn_findings_list(&files, &found, &error_count);
            if (error_count > 0)
                fail_msg("%s", cn_text_str(&found));
            cn_text_done(&found);
            cn_tiny_v4_done(&good);
        }
    }
}

static void warns_about_known_deviations(void **state)
{
    struct cn_tiny_v4 odd;

    (void)state;
    cn_tiny_v4_init(
        &odd, &(struct cn_tiny_options){.layout = CN_TINY_DRAFT_A, .has_garbage = true});
    cn_findings_expect(&odd, "warning profile.db 0x30 draft-layout: profiles of 40 bytes "
                             "without flags: the layout of a draft");
    cn_tiny_v4_done(&odd);
    EXPECT("warning meta.db 0x%" PRIx64 " propagation-index: propagation index 255 of a "
           "scope that is not transitive, limit 16",
           tiny.scopes_off);
    EXPECT("warning meta.db 0x%" PRIx64
           " function-name: no name: hpcviewer cannot read a "
           "name at 0",
           tiny.function_off[1]);
    EXPECT("warning profile.db 0x%" PRIx64
           " context-unlisted: context 8 is not listed in "
           "meta.db: an instruction that was left out",
           tiny.index_off[1] + 5 * cn_hpc_profile_index_size);
}

static void checks_the_frame(void **state)
{
    (void)state;
    tiny.meta.chars[3] = 'x';
    EXPECT("error meta.db 0x0 magic: does not start with HPCTOOLKITmeta");
    tiny.meta.chars[3] = 'T';
    tiny.meta.chars[0x0e] = 5;
    EXPECT("error meta.db 0xe version-major: version 5.0, expected 4.x");
    tiny.meta.chars[0x0e] = 4;
    tiny.meta.chars[0x0f] = 2;
    EXPECT("warning meta.db 0xf version-minor: version 4.2 is newer than 4.0");
    tiny.meta.chars[tiny.meta.len - 1] = '?';
    EXPECT("error meta.db 0x%zx footer: does not end in _meta.db: the file is incomplete",
           tiny.meta.len - 8);
    tiny.trace.len = 30;
    EXPECT("error trace.db 0x0 file-size: 30 bytes, at least 40 needed");
}

static void checks_sections(void **state)
{
    uint64_t at = section_at(CN_HPC_MODULES);
    uint64_t off = section_start(CN_HPC_MODULES);

    (void)state;
    SET(cn_hpc_section, at, "len", 99999);
    EXPECT("error meta.db 0x%" PRIx64
           " section-bounds: section Modules of 99999 bytes at "
           "0x%" PRIx64 " does not fit the file of %zu",
           at, off, tiny.meta.len);
    SET(cn_hpc_section, at, "len", 3);
    EXPECT("error meta.db 0x%" PRIx64
           " section-header: section Modules of 3 bytes is too short for its header",
           off);
    SET(cn_hpc_section, at, "len", 16);
    SET(cn_hpc_section, at, "off", 8);
    EXPECT("error meta.db 0x%" PRIx64
           " section-in-header: section Modules at 0x8 lies inside the file header",
           at);
    SET(cn_hpc_section, at, "off", section_start(CN_HPC_FILES));
    EXPECT("error meta.db 0x%" PRIx64 " sections-overlap: section Files at 0x%" PRIx64
           " overlaps section Modules at 0x%" PRIx64,
           section_start(CN_HPC_FILES), section_start(CN_HPC_FILES),
           section_start(CN_HPC_FILES));
    SET(cn_hpc_section, at, "off", off + 4);
    EXPECT("error meta.db 0x%" PRIx64 " alignment: Modules at 0x%" PRIx64
           " is not 8-byte aligned",
           off + 4, off + 4);
}

static void checks_strings(void **state)
{
    uint64_t general = section_start(CN_HPC_GENERAL);
    uint64_t title = tiny.title_off;

    (void)state;
    tiny.meta.chars[title] = '\xff';
    EXPECT("error meta.db 0x%" PRIx64 " string-utf8: title is not UTF-8", title);
    SET(cn_hpc_general_header, general, "title_off", 8);
    EXPECT("error meta.db 0x8 string-bounds: title at 0x8 lies outside its section, "
           "0x%" PRIx64 " to 0x%" PRIx64,
           general,
           general +
               cn_u64_get((const uint8_t *)tiny.meta.chars + section_at(CN_HPC_GENERAL)));
    SET(cn_hpc_module, tiny.module_off[0], "path_off", title);
    EXPECT("error meta.db 0x%" PRIx64 " string-bounds: module path at 0x%" PRIx64
           " lies outside its section, 0x%" PRIx64 " to 0x%" PRIx64,
           title, title, section_start(CN_HPC_STRINGS),
           section_start(CN_HPC_STRINGS) +
               cn_u64_get((const uint8_t *)tiny.meta.chars + section_at(CN_HPC_STRINGS)));
}

static void checks_metrics(void **state)
{
    uint64_t statistic = tiny.statistics_off;
    uint64_t metrics = section_start(CN_HPC_METRICS);

    (void)state;
    SET(cn_hpc_scope, tiny.scopes_off + cn_hpc_scope_size, "propagation", 16);
    EXPECT("error meta.db 0x%" PRIx64
           " propagation-index: transitive scope follows bit 16, there are 16",
           tiny.scopes_off + cn_hpc_scope_size);
    SET(cn_hpc_scope, tiny.scopes_off, "type", 9);
    EXPECT("warning meta.db 0x%" PRIx64 " unknown-value: scope type 9 is unknown",
           tiny.scopes_off);
    SET(cn_hpc_scope_instance, tiny.instances_off, "prop_id", 3);
    EXPECT("error meta.db 0x%" PRIx64
           " metric-id-unique: propagated metric id 3 is used twice",
           tiny.instances_off + cn_hpc_scope_instance_size);
    SET(cn_hpc_statistic, statistic, "stat_id", 40000);
    EXPECT("warning meta.db 0x%" PRIx64
           " metric-id-signed: statistic id 40000: hpcviewer reads ids up to 32767",
           statistic);
    SET(cn_hpc_statistic, statistic, "combine", 7);
    EXPECT("warning meta.db 0x%" PRIx64 " unknown-value: combine 7 is unknown",
           statistic);
    SET(cn_hpc_statistic, statistic, "scope_off", tiny.scopes_off + 1);
    EXPECT("error meta.db 0x%" PRIx64 " pointer-element: 0x%" PRIx64
           " is not the start of a scope",
           statistic, tiny.scopes_off + 1);
    SET(cn_hpc_metrics_header, metrics, "scope_len", 20);
    EXPECT("error meta.db 0x%" PRIx64
           " stride: scopes of 20 bytes each are not a multiple of 8",
           metrics);
    SET(cn_hpc_metrics_header, metrics, "metric_count", 1000);
    EXPECT("error meta.db 0x%" PRIx64
           " array-bounds: 1000 metrics of 32 bytes at 0x%" PRIx64
           " do not fit their section, 0x%" PRIx64 " to 0x%" PRIx64,
           tiny.metric_off, tiny.metric_off, metrics,
           metrics +
               cn_u64_get((const uint8_t *)tiny.meta.chars + section_at(CN_HPC_METRICS)));
}

static void finds_overlapping_arrays(void **state)
{
    uint64_t metrics = section_start(CN_HPC_METRICS);
    uint64_t len =
        cn_u64_get((const uint8_t *)tiny.meta.chars + section_at(CN_HPC_METRICS));

    (void)state;
    SET(cn_hpc_metric, tiny.metric_off, "instances_off", metrics);
    SET(cn_hpc_metric, tiny.metric_off, "instance_count",
        len / cn_hpc_scope_instance_size);
    EXPECT("error meta.db 0x%" PRIx64 " arrays-overlap: statistics at 0x%" PRIx64
           " overlap with others: %" PRIu64 " bytes in a section of %" PRIu64,
           tiny.statistics_off, tiny.statistics_off,
           len / cn_hpc_scope_instance_size * cn_hpc_scope_instance_size +
               2 * cn_hpc_statistic_size,
           len);
}

static void checks_formulas(void **state)
{
    struct cn_hpc_statistic statistic;
    struct cn_bytes bytes = {(const uint8_t *)tiny.meta.chars + tiny.statistics_off,
                             cn_hpc_statistic_size};

    (void)state;
    assert_true(cn_hpc_statistic_decode(bytes, &statistic));
    tiny.meta.chars[statistic.formula_off] = '*';
    EXPECT("error meta.db 0x%" PRIx64 " formula: formula *$: no operand before *",
           statistic.formula_off);
}

static void checks_tables(void **state)
{
    uint64_t function = tiny.function_off[0];

    (void)state;
    SET(cn_hpc_module, tiny.module_off[0], "flags", 8);
    EXPECT("warning meta.db 0x%" PRIx64
           " reserved-bits: module: reserved bits of flags 0x8 are set",
           tiny.module_off[0]);
    SET(cn_hpc_function, function, "module_off", tiny.module_off[0] + 1);
    EXPECT("error meta.db 0x%" PRIx64 " pointer-element: 0x%" PRIx64
           " is not the start of a module",
           function, tiny.module_off[0] + 1);
    SET(cn_hpc_function, function, "file_off", 1);
    EXPECT("error meta.db 0x%" PRIx64 " pointer-element: 0x1 is not the start of a file",
           function);
    SET(cn_hpc_table_header, section_start(CN_HPC_MODULES), "record_len", 136);
    EXPECT("warning meta.db 0x%" PRIx64
           " stride-signed: modules of 136 bytes each: hpcviewer reads sizes up to 127",
           section_start(CN_HPC_MODULES));
    SET(cn_hpc_function, function, "file_off", 0);
    SET(cn_hpc_function, function, "module_off", 0);
    SET(cn_hpc_function, function, "name_off", 0);
    EXPECT("error meta.db 0x%" PRIx64 " function-empty: neither name, module nor file",
           function);
}

static void refuses_copied_files_outside(void **state)
{
    struct cn_hpc_source_file file;
    struct cn_bytes bytes = {(const uint8_t *)tiny.meta.chars + tiny.file_off,
                             cn_hpc_source_file_size};

    (void)state;
    assert_true(cn_hpc_source_file_decode(bytes, &file));
    SET(cn_hpc_source_file, tiny.file_off, "flags", CN_HPC_FILE_COPIED);
    memcpy(tiny.meta.chars + file.path_off, "../a", 5);
    EXPECT("error meta.db 0x%" PRIx64
           " copied-path: copied file ../a lies outside the database",
           tiny.file_off);
    memcpy(tiny.meta.chars + file.path_off, "/abc", 5);
    EXPECT("error meta.db 0x%" PRIx64
           " copied-path: copied file /abc lies outside the database",
           tiny.file_off);
}

static void checks_context_ids(void **state)
{
    uint64_t off = tiny.context_off[4];

    (void)state;
    SET(cn_hpc_context, off, "context", 0);
    EXPECT("error meta.db 0x%" PRIx64
           " context-id-zero: context id 0 is reserved for the global context",
           off);
    SET(cn_hpc_context, off, "context", 3);
    EXPECT("error meta.db 0x%" PRIx64 " context-id-unique: context id 3 is used twice",
           off);
    SET(cn_hpc_context, off, "context", 4000000000);
    EXPECT(
        "error meta.db 0x%" PRIx64
        " context-id-spread: context id 4000000000 is out of proportion to the size of "
        "the section, limit %" PRIu64,
        off,
        (cn_u64_get((const uint8_t *)tiny.meta.chars + section_at(CN_HPC_CONTEXTS)) /
             cn_hpc_draft_context_size +
         1) *
            CN_HPC_ID_SPREAD_MAX);
}

static void checks_context_records(void **state)
{
    uint64_t line = tiny.context_off[4], function = tiny.context_off[2];
    uint64_t loop = tiny.context_off[3], instruction = tiny.context_off[6];

    (void)state;
    SET(cn_hpc_context, line, "relation", 3);
    EXPECT("warning meta.db 0x%" PRIx64 " unknown-value: relation 3 is unknown", line);
    EXPECT("warning meta.db 0x%" PRIx64 " propagation-mask: context 4: propagation 0x1, "
           "but bit 0 means relation lexical, not 3",
           line);
    SET(cn_hpc_context, line, "kind", 4);
    EXPECT("warning meta.db 0x%" PRIx64 " unknown-value: lexical type 4 is unknown",
           line);
    SET(cn_hpc_context, function, "kind", CN_CONTEXT_LINE);
    EXPECT("warning meta.db 0x%" PRIx64
           " context-source: context 2: a line without source location",
           function);
    SET(cn_hpc_context, function, "kind", CN_CONTEXT_INSTRUCTION);
    EXPECT("warning meta.db 0x%" PRIx64
           " context-point: context 2: an instruction without module and offset",
           function);
    SET(cn_hpc_context, loop, "flags", 7);
    EXPECT("error meta.db 0x%" PRIx64
           " flex-words: 4 flex words are too few for flags 0x7",
           loop);
    SET(cn_hpc_context, instruction, "flags", 0xc);
    EXPECT("warning meta.db 0x%" PRIx64
           " reserved-bits: context 6: reserved bits of flags 0xc are set",
           instruction);
    SET(cn_hpc_flex_point, instruction + cn_hpc_context_size, "module_off", 5);
    EXPECT("error meta.db 0x%" PRIx64
           " pointer-element: 0x5 is not the start of a module",
           instruction);
    SET(cn_hpc_context, line, "flex_count", 200);
    EXPECT("error meta.db 0x%" PRIx64 " context-bounds: context at 0x%" PRIx64
           ": 200 flex words do not fit the 16 bytes left of its list",
           line, line);
}

static void finds_cycles_and_overlaps(void **state)
{
    uint64_t deep = tiny.context_off[7], top = tiny.context_off[2];
    uint64_t section = section_start(CN_HPC_CONTEXTS);
    uint64_t end = section + cn_u64_get((const uint8_t *)tiny.meta.chars +
                                        section_at(CN_HPC_CONTEXTS));

    (void)state;
    SET(cn_hpc_context, deep, "children_off", top);
    SET(cn_hpc_context, deep, "children_len", cn_hpc_context_size + CN_HPC_FLEX_WORD);
    EXPECT("error meta.db 0x%" PRIx64 " contexts-overlap: context 2 at 0x%" PRIx64
           " is part of another list: a cycle or an overlap",
           top, top);
    SET(cn_hpc_context, deep, "children_off", top + 4);
    EXPECT("error meta.db 0x%" PRIx64 " alignment: children at 0x%" PRIx64
           " is not 8-byte aligned",
           top + 4, top + 4);
    SET(cn_hpc_context, deep, "children_off", 8);
    EXPECT("error meta.db 0x%" PRIx64 " children-bounds: children of 40 bytes at 0x8 do "
           "not fit section Context, 0x%" PRIx64 " to 0x%" PRIx64,
           deep, section, end);
    SET(cn_hpc_context, deep, "children_len", 0);
    EXPECT("warning meta.db 0x%" PRIx64
           " leaf-pointer: no children, but a pointer to them: 0x8",
           deep);
}

static void checks_entry_points(void **state)
{
    uint64_t contexts = section_start(CN_HPC_CONTEXTS);

    (void)state;
    SET(cn_hpc_entry, tiny.entry_off, "entry", 5);
    EXPECT("warning meta.db 0x%" PRIx64 " unknown-value: entry point 5 is unknown",
           tiny.entry_off);
    SET(cn_hpc_contexts_header, contexts, "entry_count", 0);
    EXPECT("warning meta.db 0x%" PRIx64
           " no-contexts: no context is listed: hpcviewer shows no row, Hatchet fails",
           contexts);
    SET(cn_hpc_contexts_header, contexts, "entry_count", 1);
    SET(cn_hpc_contexts_header, contexts, "entry_len", 16);
    EXPECT("error meta.db 0x%" PRIx64 " array-bounds: entry points of 16 bytes each are "
           "too short, 32 needed",
           tiny.entry_off);
}

static void counts_what_it_does_not_list(void **state)
{
    (void)state;
    for (uint32_t i = 1; i <= CN_TINY_LISTED; i++)
        if (i > 1)
            SET(cn_hpc_context, tiny.context_off[i], "flags", 0xf0);
    EXPECT("warning meta.db 0x0 reserved-bits: 3 more");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(accepts_every_layout),
        TEST(warns_about_known_deviations),
        TEST(checks_the_frame),
        TEST(checks_sections),
        TEST(checks_strings),
        TEST(checks_metrics),
        TEST(checks_formulas),
        TEST(finds_overlapping_arrays),
        TEST(checks_tables),
        TEST(refuses_copied_files_outside),
        TEST(checks_context_ids),
        TEST(checks_context_records),
        TEST(finds_cycles_and_overlaps),
        TEST(checks_entry_points),
        TEST(counts_what_it_does_not_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
