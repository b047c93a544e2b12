#include "analyze/why/signs.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/calls/values.h"

static bool is_number(const struct cn_argument_spec *spec)
{
    return strchr("diuxof", spec->format) != NULL;
}

/* The values of the entry or exit of a call. */
static void add_values(const struct cn_recording *rec, const struct cn_why_call *call,
                       enum cn_call_kind kind, struct cn_bytes data,
                       struct cn_traits *traits)
{
    struct cn_call record = {.time_ns = call->begin_ns,
                             .function = call->function,
                             .kind = (uint8_t)kind,
                             .flags = CN_CALL_HAS_DATA,
                             .data_len = (uint32_t)data.len};
    struct cn_call_batch batch = {.calls = &record, .count = 1, .data = data};
    struct cn_call_values values;
    struct cn_call_value value;
    struct cn_text text = {0};

    if (data.len == 0)
        return;
    cn_call_values_begin(&values, rec, &batch, &record);
    while (cn_call_values_next(&values, &value)) {
        bool has_number = is_number(value.spec) && value.spec->size > 0;
        double number = 0;
        char key[24];

        if (has_number)
            number = value.spec->format == 'f'
                         ? cn_call_value_real(&values, &value)
                         : (double)cn_call_value_signed(&values, &value);
        cn_text_clear(&text);
        cn_call_value_print(rec, call->task, call->begin_ns, &values, &value, &text);
        (void)snprintf(key, sizeof(key), kind == CN_CALL_ENTER ? "arg%u" : "return value",
                       (unsigned)value.spec->index);
        cn_traits_add(traits, key, cn_text_str(&text), has_number ? &number : NULL);
        if (kind == CN_CALL_EXIT)
            break;
    }
    cn_text_done(&text);
}

static void add_call(const struct cn_recording *rec, const struct cn_why_call *call,
                     struct cn_traits *traits)
{
    const struct cn_task *task = &rec->tasks[call->task];
    char text[64];

    add_values(rec, call, CN_CALL_ENTER, call->arguments, traits);
    add_values(rec, call, CN_CALL_EXIT, call->result, traits);
    (void)snprintf(text, sizeof(text), "%u (%.40s)", task->tid,
                   task->name ? task->name : "");
    cn_traits_add(traits, "task", text, NULL);
}

void cn_why_signs_find(struct cn_signs *signs, const struct cn_why *why,
                       const struct cn_recording *rec, cn_why_values_fn values, void *arg)
{
    static const int groups[] = {CN_WHY_SLOW};
    static const struct cn_sign_limits usual = {
        .hits_min = 3, .chance_max = 0.01, .share_min = 0.2, .ratio_min = 1.5};
    /* One call tells nothing of chance: what at most 5 % of typical calls have is rare. */
    static const struct cn_sign_limits of_one = {.hits_min = 1, .ratio_min = 20};
    bool is_one = why->groups[CN_WHY_SLOW].count == 1;
    struct cn_traits *traits = cn_traits_new();

    for (int k = CN_WHY_GROUPS - 1; k >= 0; k--) {
        const struct cn_why_calls *group = &why->groups[k];

        for (size_t i = 0; i < group->sample_count; i++) {
            cn_traits_begin(traits, k);
            if (values)
                values(arg, &group->samples[i], traits);
            else
                add_call(rec, &group->samples[i], traits);
        }
    }
    cn_traits_judge(traits, groups, 1, is_one ? &of_one : &usual, signs);
    cn_traits_free(traits);
}
