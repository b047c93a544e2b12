/* Files of a measurement directory, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/hpctoolkit/meas/code/ranges.h"
#include "formats/hpctoolkit/meas/code/structure.h"
#include "formats/hpctoolkit/meas/format.h"
#include "formats/hpctoolkit/meas/meas.h"
#include "formats/hpctoolkit/meas/profile/node_kinds.h"
#include "formats/hpctoolkit/meas/profile/profile.h"
#include "formats/hpctoolkit/meas/verify/verify.h"
#include "support/effort.h"
#include "support/tiny_meas.h"

static struct cn_bytes bytes_of(const struct cn_text *text)
{
    return (struct cn_bytes){(const uint8_t *)text->chars, text->len};
}

static int make_tiny(void **state)
{
    static struct cn_tiny_meas tiny;

    cn_tiny_meas_init(&tiny, &(struct cn_tiny_meas_options){.host = 0xa0, .thread = 1});
    *state = &tiny;
    return 0;
}

static int drop_tiny(void **state)
{
    cn_tiny_meas_done(*state);
    return 0;
}

static void reads_a_profile(void **state)
{
    const struct cn_tiny_meas *tiny = *state;
    struct cn_sampled_profile p = {0};
    struct cn_error err = {0};

    if (!cn_hpc_profile_decode(bytes_of(&tiny->run), bytes_of(&tiny->trace), &p, &err))
        fail_msg("%s", err.text);
    assert_null(p.damage);
    assert_int_equal(p.metric_count, CN_TINY_MEAS_METRICS);
    assert_int_equal(p.node_count, CN_TINY_MEAS_NODES);
    assert_int_equal(p.value_count, CN_TINY_MEAS_VALUES);
    assert_int_equal(p.module_count, 2);
    assert_int_equal(p.identity_count, 3);
    assert_int_equal(p.identity[0].numbering, CN_NUMBER_LOCALLY);
    assert_int_equal(p.identity[0].physical, 0xa0);
    assert_int_equal(p.nodes[0].kind, CN_NODE_GLOBAL);
    assert_int_equal(p.nodes[1].kind, CN_NODE_GLOBAL);
    assert_int_equal(p.nodes[2].kind, CN_NODE_ENTRY);
    assert_int_equal(p.nodes[2].address, CN_ENTRY_MAIN_THREAD);
    assert_int_equal(p.nodes[4].parent, 3);
    assert_int_equal(p.nodes[4].address, 0x204);
    assert_int_equal(p.nodes[7].kind, CN_NODE_PLACEHOLDER);
    assert_int_equal(p.nodes[8].kind, CN_NODE_UNKNOWN);
    assert_int_equal(p.nodes[9].module, 1);
    assert_true(p.metrics[3].is_moved);
    assert_true(p.values[0].value == 1000 && p.values[0].node == 3);
    assert_true(p.values[1].value == 4000 && p.values[1].node == 4);
    assert_true(p.values[2].value == 0.5 && p.values[2].metric == 1);
    cn_hpc_profile_done(&p);
}

static void sorts_samples_by_time(void **state)
{
    static const uint64_t times[] = {100, 120, 130, 140, 150, 160};
    static const uint32_t nodes[] = {1, 4, 6, 1, 1, CN_NONE};
    const struct cn_tiny_meas *tiny = *state;
    struct cn_sampled_profile p = {0};
    struct cn_error err = {0};

    assert_true(
        cn_hpc_profile_decode(bytes_of(&tiny->run), bytes_of(&tiny->trace), &p, &err));
    assert_int_equal(p.sample_count, CN_TINY_MEAS_SAMPLES);
    for (size_t i = 0; i < CN_TINY_MEAS_SAMPLES; i++) {
        assert_int_equal(p.samples[i].time_ns, times[i]);
        assert_int_equal(p.samples[i].node, nodes[i]);
    }
    cn_hpc_profile_done(&p);
}

static void rejects_every_truncation_of_a_profile(void **state)
{
    const struct cn_tiny_meas *tiny = *state;
    struct cn_sampled_profile p = {0};

    for (size_t len = 0; len < tiny->run.len; len++) {
        struct cn_bytes part = {(const uint8_t *)tiny->run.chars, len};
        struct cn_error err = {0};

        assert_false(cn_hpc_profile_decode(part, bytes_of(&tiny->trace), &p, &err));
        assert_true(err.kind != CN_ERR_NONE && err.text[0] != '\0');
    }
    cn_hpc_profile_done(&p);
}

static void keeps_whole_records_of_a_truncated_trace(void **state)
{
    const struct cn_tiny_meas *tiny = *state;
    struct cn_sampled_profile p = {0};
    struct cn_error err = {0};

    for (size_t len = 1; len < tiny->trace.len; len++) {
        struct cn_bytes part = {(const uint8_t *)tiny->trace.chars, len};
        size_t body = len < cn_hpc_trace_file_size ? 0 : len - cn_hpc_trace_file_size;

        assert_true(cn_hpc_profile_decode(bytes_of(&tiny->run), part, &p, &err));
        assert_int_equal(p.sample_count, body / cn_hpc_trace_record_size);
        assert_int_equal(p.damage != NULL, len < cn_hpc_trace_file_size ||
                                               body % cn_hpc_trace_record_size != 0);
    }
    cn_hpc_profile_done(&p);
}

static void count_finding(void *arg, const struct cn_finding *finding)
{
    size_t *count = arg;

    assert_true(finding->text[0] != '\0');
    *count += finding->is_error;
}

static bool take_item(void *arg, const struct cn_dump_item *item)
{
    size_t *count = arg;

    assert_true(item->bytes.len >= item->layout->size);
    (*count)++;
    return true;
}

/* The reader refuses what the verifier reports as an error, and what the reader accepts can be
 * dumped. The exceptions are counts that the reader does not need. */
static void check_agreement(struct cn_bytes run, struct cn_bytes trace)
{
    struct cn_sampled_profile p = {0};
    struct cn_error err = {0};
    size_t error_count = 0, item_count = 0;
    bool ok = cn_hpc_profile_decode(run, trace, &p, &err);

    cn_hpc_meas_verify_bytes("run", run, "trace", (struct cn_bytes){0}, count_finding,
                             &error_count);
    if (!ok)
        assert_true(err.text[0] != '\0' && error_count > 0);
    if (!cn_hpc_dump_bytes("run", cn_hpc_meas_dump_contents, run, take_item, &item_count,
                           &err))
        assert_false(ok);
    cn_hpc_profile_done(&p);
}

static void survives_every_flipped_bit_of_a_profile(void **state)
{
    const struct cn_tiny_meas *tiny = *state;

    for (size_t at = 0; at < tiny->run.len; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            tiny->run.chars[at] ^= (char)(1u << bit);
            check_agreement(bytes_of(&tiny->run), bytes_of(&tiny->trace));
            tiny->run.chars[at] ^= (char)(1u << bit);
        }
}

static void survives_every_flipped_bit_of_a_trace(void **state)
{
    const struct cn_tiny_meas *tiny = *state;

    for (size_t at = 0; at < tiny->trace.len; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            tiny->trace.chars[at] ^= (char)(1u << bit);
            check_agreement(bytes_of(&tiny->run), bytes_of(&tiny->trace));
            tiny->trace.chars[at] ^= (char)(1u << bit);
        }
}

static void finds_nothing_wrong_with_a_good_profile(void **state)
{
    const struct cn_tiny_meas *tiny = *state;
    struct cn_error err = {0};
    size_t error_count = 0, item_count = 0;

    cn_hpc_meas_verify_bytes("run", bytes_of(&tiny->run), "trace", (struct cn_bytes){0},
                             count_finding, &error_count);
    assert_int_equal(error_count, 0);
    /* The last sample of the trace names a node that does not exist. */
    cn_hpc_meas_verify_bytes("run", bytes_of(&tiny->run), "trace", bytes_of(&tiny->trace),
                             count_finding, &error_count);
    assert_int_equal(error_count, 1);
    assert_true(cn_hpc_dump_bytes("run", cn_hpc_meas_dump_contents, bytes_of(&tiny->run),
                                  take_item, &item_count, &err));
    assert_int_equal(item_count, 1 + 3 + 2 + CN_TINY_MEAS_NODES + CN_TINY_MEAS_METRICS +
                                     4 + 3 + 1 + CN_TINY_MEAS_VALUES + 6 + 1);
}

struct read_structure {
    struct cn_hpc_structures structures;
    struct cn_hpc_tables tables;
    struct cn_code_scope *scopes;
    size_t capacity;
};

static bool read_structure(struct read_structure *s, struct cn_bytes bytes,
                           struct cn_error *err)
{
    *s = (struct read_structure){0};
    return cn_hpc_structures_read(&s->structures, bytes, &s->tables, err);
}

static size_t ask(struct read_structure *s, uint64_t address)
{
    return cn_hpc_structure_scopes(&s->structures.list[0], address, &s->scopes,
                                   &s->capacity);
}

static void done_structure(struct read_structure *s)
{
    cn_hpc_structures_done(&s->structures);
    cn_hpc_tables_done(&s->tables);
    free(s->scopes);
}

static void finds_the_scopes_of_an_address(void **state)
{
    const struct cn_tiny_meas *tiny = *state;
    struct read_structure s;
    struct cn_error err = {0};

    if (!read_structure(&s, bytes_of(&tiny->structure), &err))
        fail_msg("%s", err.text);
    assert_int_equal(s.structures.count, 1);
    assert_int_equal(ask(&s, 0x204), 4);
    assert_int_equal(s.scopes[0].kind, CN_CONTEXT_FUNCTION);
    assert_string_equal(s.tables.functions[s.scopes[0].function].name, "work<int>");
    assert_int_equal(s.scopes[2].kind, CN_CONTEXT_LOOP);
    assert_int_equal(s.scopes[2].line, 22);
    assert_int_equal(s.scopes[3].line, 23);
    assert_int_equal(ask(&s, 0x208), 5);
    assert_int_equal(s.scopes[2].line, 24);
    assert_int_equal(s.scopes[3].relation, CN_INLINED_CALL);
    assert_string_equal(s.tables.files.list[s.scopes[4].file], "/src/helper.h");
    assert_int_equal(ask(&s, 0x210), 0);
    done_structure(&s);
}

/* [0x118-0x130) overlaps a range of line 11; [0x130-0x140) of the same statement is used. */
static void drops_overlapping_ranges_whole(void **state)
{
    const struct cn_tiny_meas *tiny = *state;
    struct read_structure s;
    struct cn_error err = {0};

    assert_true(read_structure(&s, bytes_of(&tiny->structure), &err));
    assert_int_equal(ask(&s, 0x11f), 2);
    assert_int_equal(s.scopes[1].line, 11);
    assert_int_equal(ask(&s, 0x120), 0);
    assert_int_equal(ask(&s, 0x130), 2);
    assert_int_equal(s.scopes[1].line, 12);
    done_structure(&s);
}

static void keeps_the_structure_before_a_truncation(void **state)
{
    const struct cn_tiny_meas *tiny = *state;
    size_t found = 0;

    /* The last byte is a newline after the root element. */
    for (size_t len = 0; len + 1 < tiny->structure.len; len++) {
        struct cn_bytes part = {(const uint8_t *)tiny->structure.chars, len};
        struct read_structure s;
        struct cn_error err = {0};

        assert_false(read_structure(&s, part, &err));
        assert_true(err.text[0] != '\0');
        if (s.structures.count > 0)
            found += ask(&s, 0x100) == 2;
        done_structure(&s);
    }
    assert_true(found > 100);
}

static void survives_every_flipped_bit_of_a_structure(void **state)
{
    const struct cn_tiny_meas *tiny = *state;

    for (size_t at = 0; at < tiny->structure.len; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            struct read_structure s;
            struct cn_error err = {0};

            tiny->structure.chars[at] ^= (char)(1u << bit);
            if (!read_structure(&s, bytes_of(&tiny->structure), &err))
                assert_true(err.text[0] != '\0');
            for (size_t i = 0; i < s.structures.count; i++)
                (void)ask(&s, 0x204);
            done_structure(&s);
            tiny->structure.chars[at] ^= (char)(1u << bit);
        }
}

static void refuses_entities_of_its_own(void **state)
{
    static const char bomb[] = "<?xml version=\"1.0\"?>\n<!DOCTYPE x [<!ENTITY a "
                               "\"aaaa\">]>\n<HPCToolkitStructure/>";
    struct read_structure s;
    struct cn_error err = {0};

    (void)state;
    assert_false(read_structure(
        &s, (struct cn_bytes){(const uint8_t *)bomb, sizeof(bomb) - 1}, &err));
    assert_non_null(strstr(err.text, "entity"));
    done_structure(&s);
}

/* Compared with the slow and obvious way. */
static void keeps_the_ranges_that_came_first(void **state)
{
    enum { COUNT = 400, SPACE = 3000 };
    uint32_t seed = (uint32_t)cn_test_seed(1);

    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        struct cn_hpc_ranges ranges = {0};
        uint32_t owner[SPACE] = {0};

        for (uint32_t i = 1; i <= COUNT; i++) {
            uint64_t begin, len;
            bool is_free = true;

            seed = seed * 1664525 + 1013904223;
            begin = seed >> 8 & 2047;
            len = 1 + (seed >> 20 & 15) * (i % 7 == 0 ? 20 : 1);
            cn_hpc_ranges_add(&ranges, (struct cn_hpc_range){begin, begin + len, i});
            for (uint64_t at = begin; at < begin + len; at++)
                is_free = is_free && owner[at] == 0;
            for (uint64_t at = begin; is_free && at < begin + len; at++)
                owner[at] = i;
        }
        cn_hpc_ranges_settle(&ranges);
        for (uint64_t at = 0; at < SPACE; at++) {
            const struct cn_hpc_range *range = cn_hpc_ranges_find(&ranges, at);

            assert_int_equal(range ? range->value : 0, owner[at]);
        }
        cn_hpc_ranges_done(&ranges);
    }
}

static void names_placeholders(void **state)
{
    struct cn_text text = {0};

    (void)state;
    cn_hpc_placeholder_print(CN_HPC_CODE('G', 'P', 'U', 'T', 'r', 'a', 'c', 'e'), &text);
    assert_string_equal(cn_text_str(&text), "<gpu kernel>");
    cn_text_clear(&text);
    cn_hpc_placeholder_print(CN_HPC_CODE('N', 'e', 'w', 1, ' ', 'x', 0xff, '!'), &text);
    assert_string_equal(cn_text_str(&text), "New\\x01 x\\xff!");
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_profile),
        cmocka_unit_test(sorts_samples_by_time),
        cmocka_unit_test(rejects_every_truncation_of_a_profile),
        cmocka_unit_test(keeps_whole_records_of_a_truncated_trace),
        cmocka_unit_test(survives_every_flipped_bit_of_a_profile),
        cmocka_unit_test(survives_every_flipped_bit_of_a_trace),
        cmocka_unit_test(finds_nothing_wrong_with_a_good_profile),
        cmocka_unit_test(finds_the_scopes_of_an_address),
        cmocka_unit_test(drops_overlapping_ranges_whole),
        cmocka_unit_test(keeps_the_structure_before_a_truncation),
        cmocka_unit_test(survives_every_flipped_bit_of_a_structure),
        cmocka_unit_test(refuses_entities_of_its_own),
        cmocka_unit_test(keeps_the_ranges_that_came_first),
        cmocka_unit_test(names_placeholders),
    };

    return cmocka_run_group_tests(tests, make_tiny, drop_tiny);
}
