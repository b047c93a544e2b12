#include "support/yaml_round_trip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/hpctoolkit/metrics_yaml.h"

struct cn_taxonomy cn_yaml_must_read(struct cn_arena *arena, const char *text)
{
    struct cn_taxonomy taxonomy = {0};
    struct cn_bytes bytes = {(const uint8_t *)text, strlen(text)};
    struct cn_error err = {0};

    if (!cn_hpc_metrics_yaml_read(bytes, &taxonomy, arena, &err))
        fail_msg("%s", err.text);
    return taxonomy;
}

static void check_text(const char *a, const char *b)
{
    assert_true((a == NULL) == (b == NULL));
    if (a)
        assert_string_equal(a, b);
}

static void check_variant(const struct cn_variant *a, const struct cn_variant *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->render, b->render);
    check_text(a->format, b->format);
    assert_true(cn_formula_equals(a->total.standard, b->total.standard));
    assert_true(cn_formula_equals(a->total.custom, b->total.custom));
    assert_true(cn_formula_equals(a->self.standard, b->self.standard));
    assert_true(cn_formula_equals(a->self.custom, b->self.custom));
}

static void check_metric(const struct cn_presented_metric *a,
                         const struct cn_presented_metric *b)
{
    assert_string_equal(a->name, b->name);
    check_text(a->description, b->description);
    check_text(a->format, b->format);
    assert_int_equal(a->is_visible, b->is_visible);
    assert_int_equal(a->variant_count, b->variant_count);
    for (size_t i = 0; i < a->variant_count; i++)
        check_variant(&a->variants[i], &b->variants[i]);
    assert_int_equal(a->child_count, b->child_count);
    for (size_t i = 0; i < a->child_count; i++)
        check_metric(&a->children[i], &b->children[i]);
}

static void check_equal(const struct cn_taxonomy *a, const struct cn_taxonomy *b)
{
    assert_int_equal(a->input_count, b->input_count);
    for (size_t i = 0; i < a->input_count; i++) {
        assert_string_equal(a->inputs[i].metric, b->inputs[i].metric);
        assert_string_equal(a->inputs[i].scope, b->inputs[i].scope);
        assert_string_equal(a->inputs[i].formula, b->inputs[i].formula);
        assert_int_equal(a->inputs[i].combine, b->inputs[i].combine);
    }
    assert_int_equal(a->root_count, b->root_count);
    for (size_t i = 0; i < a->root_count; i++)
        check_metric(&a->roots[i], &b->roots[i]);
}

void cn_yaml_must_round_trip(const struct cn_taxonomy *taxonomy, struct cn_text *written)
{
    struct cn_arena arena = {0};
    struct cn_taxonomy again;

    cn_hpc_metrics_yaml_write(taxonomy, written);
    again = cn_yaml_must_read(&arena, cn_text_str(written));
    check_equal(taxonomy, &again);
    cn_arena_done(&arena);
}
