#include "cli/report/fields.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/durations/percentile.h"
#include "base/alloc.h"
#include "model/calls/recording.h"

const struct cn_output_field cn_report_fields[CN_REPORT_FIELD_COUNT] = {
    [CN_REPORT_TOTAL] = {"total", "Total time", "total_ns",
                         CN_OUTPUT_TIME | CN_OUTPUT_USUAL},
    [CN_REPORT_TOTAL_AVG] = {"total-avg", "Total avg", "total_avg_ns", CN_OUTPUT_TIME},
    [CN_REPORT_TOTAL_MIN] = {"total-min", "Total min", "total_min_ns", CN_OUTPUT_TIME},
    [CN_REPORT_TOTAL_MAX] = {"total-max", "Total max", "total_max_ns", CN_OUTPUT_TIME},
    [CN_REPORT_SELF] = {"self", "Self time", "self_ns", CN_OUTPUT_TIME | CN_OUTPUT_USUAL},
    [CN_REPORT_SELF_AVG] = {"self-avg", "Self avg", "self_avg_ns", CN_OUTPUT_TIME},
    [CN_REPORT_SELF_MIN] = {"self-min", "Self min", "self_min_ns", CN_OUTPUT_TIME},
    [CN_REPORT_SELF_MAX] = {"self-max", "Self max", "self_max_ns", CN_OUTPUT_TIME},
    [CN_REPORT_CALL] = {"call", "Calls", "calls", CN_OUTPUT_NUMBER | CN_OUTPUT_USUAL},
    [CN_REPORT_SIZE] = {"size", "Size", "size", CN_OUTPUT_NUMBER},
    [CN_REPORT_TOTAL_STDV] = {"total-stdv", "Total stdv", "total_stdv_percent",
                              CN_OUTPUT_PERCENT},
    [CN_REPORT_SELF_STDV] = {"self-stdv", "Self stdv", "self_stdv_percent",
                             CN_OUTPUT_PERCENT},
    [CN_REPORT_P50] = {"p50", "Total p50", "total_p50_ns",
                       CN_OUTPUT_TIME | CN_OUTPUT_RARE},
    [CN_REPORT_P90] = {"p90", "Total p90", "total_p90_ns",
                       CN_OUTPUT_TIME | CN_OUTPUT_RARE},
    [CN_REPORT_P99] = {"p99", "Total p99", "total_p99_ns",
                       CN_OUTPUT_TIME | CN_OUTPUT_RARE},
    [CN_REPORT_P999] = {"p99.9", "Tot p99.9", "total_p999_ns",
                        CN_OUTPUT_TIME | CN_OUTPUT_RARE},
    [CN_REPORT_SELF_P50] = {"self-p50", "Self p50", "self_p50_ns",
                            CN_OUTPUT_TIME | CN_OUTPUT_RARE},
    [CN_REPORT_SELF_P90] = {"self-p90", "Self p90", "self_p90_ns",
                            CN_OUTPUT_TIME | CN_OUTPUT_RARE},
    [CN_REPORT_SELF_P99] = {"self-p99", "Self p99", "self_p99_ns",
                            CN_OUTPUT_TIME | CN_OUTPUT_RARE},
    [CN_REPORT_SELF_P999] = {"self-p99.9", "Self p99.9", "self_p999_ns",
                             CN_OUTPUT_TIME | CN_OUTPUT_RARE},
    [CN_REPORT_TOTAL_MIN_TS] = {"total-min-ts", "Total min ts", "total_min_ts_ns",
                                CN_OUTPUT_MOMENT | CN_OUTPUT_RARE},
    [CN_REPORT_TOTAL_MAX_TS] = {"total-max-ts", "Total max ts", "total_max_ts_ns",
                                CN_OUTPUT_MOMENT | CN_OUTPUT_RARE},
    [CN_REPORT_SELF_MIN_TS] = {"self-min-ts", "Self min ts", "self_min_ts_ns",
                               CN_OUTPUT_MOMENT | CN_OUTPUT_RARE},
    [CN_REPORT_SELF_MAX_TS] = {"self-max-ts", "Self max ts", "self_max_ts_ns",
                               CN_OUTPUT_MOMENT | CN_OUTPUT_RARE},
    [CN_REPORT_CPU_COUNT] = {"cpu-count", "CPU Count", "cpu_count",
                             CN_OUTPUT_NUMBER | CN_OUTPUT_CENTERED | CN_OUTPUT_RARE},
    [CN_REPORT_CPU_MASK] = {"cpu-mask", "CPU MASK", "cpu_mask",
                            CN_OUTPUT_NUMBER | CN_OUTPUT_CENTERED | CN_OUTPUT_RARE},
    [CN_REPORT_CPU_LIST] = {"cpu-list", "CPU LIST", "cpu_list",
                            CN_OUTPUT_NUMBER | CN_OUTPUT_CENTERED | CN_OUTPUT_RARE},
};

/* The field of a sort key, or CN_REPORT_BY_NAME. With --avg-total or --avg-self, "avg",
 * "min", "max" and "stdv" are short for the fields of that time. */
static bool find_key(const char *name, size_t len, const char *short_for, int *out)
{
    char full[16];
    size_t field = cn_fields_find(cn_report_fields, CN_REPORT_FIELD_COUNT, name, len);

    if (len == 4 && memcmp(name, "func", 4) == 0) {
        *out = CN_REPORT_BY_NAME;
        return true;
    }
    if (field == CN_REPORT_FIELD_COUNT && short_for && len <= 4) {
        strcpy(full, short_for);
        strncat(full, name, len);
        field =
            cn_fields_find(cn_report_fields, CN_REPORT_FIELD_COUNT, full, strlen(full));
    }
    *out = (int)field;
    return field < CN_REPORT_FIELD_COUNT;
}

static bool add_keys(struct cn_report_layout *layout, const char *keys,
                     const char *short_for, struct cn_error *err)
{
    for (const char *at = keys; *at;) {
        size_t len = strcspn(at, ",");

        if (layout->key_count == CN_REPORT_KEYS_MAX)
            return cn_fail(err, CN_ERR_USAGE, "more than %d columns to sort by",
                           CN_REPORT_KEYS_MAX);
        if (!find_key(at, len, short_for, &layout->keys[layout->key_count]))
            return cn_fields_fail(cn_report_fields, CN_REPORT_FIELD_COUNT, false, at, len,
                                  err);
        layout->key_count++;
        at += len + (at[len] == ',');
    }
    return true;
}

void cn_report_layout_need(struct cn_report_layout *layout, int field)
{
    layout->needs.with_histograms |=
        field >= CN_REPORT_P50 && field <= CN_REPORT_SELF_P999;
    layout->needs.with_moments |=
        field >= CN_REPORT_TOTAL_MIN_TS && field <= CN_REPORT_SELF_MAX_TS;
    layout->needs.with_processors |= field >= CN_REPORT_CPU_COUNT;
    layout->needs.with_squares |=
        field == CN_REPORT_TOTAL_STDV || field == CN_REPORT_SELF_STDV;
}

bool cn_report_layout_parse(struct cn_report_layout *layout, const char *fields,
                            const char *keys, bool avg_total, bool avg_self,
                            struct cn_error *err)
{
    *layout = (struct cn_report_layout){0};
    if (avg_total && avg_self)
        return cn_fail(err, CN_ERR_USAGE,
                       "--avg-total and --avg-self exclude each other");
    if (!fields && avg_total)
        fields = "total-avg,total-min,total-max,total-stdv";
    else if (!fields && avg_self)
        fields = "self-avg,self-min,self-max,self-stdv";
    if (!keys)
        keys = avg_total ? "total-avg" : avg_self ? "self-avg" : "total";
    if (!cn_fields_parse(cn_report_fields, CN_REPORT_FIELD_COUNT, fields, layout->has,
                         err) ||
        !add_keys(layout, keys,
                  avg_total  ? "total-"
                  : avg_self ? "self-"
                             : NULL,
                  err))
        return false;
    for (int i = 0; i < CN_REPORT_FIELD_COUNT; i++)
        if (layout->has[i])
            cn_report_layout_need(layout, i);
    for (size_t i = 0; i < layout->key_count; i++)
        cn_report_layout_need(layout, layout->keys[i]);
    return true;
}

static uint64_t percentile(const struct cn_call_row *row, bool is_self, unsigned which)
{
    uint64_t ns;

    return cn_call_row_percentile(row, is_self, (enum cn_percentile)which, &ns) ? ns : 0;
}

bool cn_report_is_of_one_call(size_t field)
{
    return (field >= CN_REPORT_P50 && field <= CN_REPORT_SELF_P999) ||
           field == CN_REPORT_TOTAL_MIN || field == CN_REPORT_TOTAL_MAX ||
           field == CN_REPORT_SELF_MIN || field == CN_REPORT_SELF_MAX;
}

uint64_t cn_report_value(const struct cn_recording *rec, const struct cn_call_row *row,
                         enum cn_report_field field)
{
    const struct cn_call_cost *cost = &row->cost;

    switch (field) {
    case CN_REPORT_TOTAL:
        return cost->total_ns;
    case CN_REPORT_TOTAL_AVG:
        return cn_call_times_mean(&cost->total, cost->calls);
    case CN_REPORT_TOTAL_MIN:
        return cn_duration_resolved(cost->total.min_ns, row->resolution_ns);
    case CN_REPORT_TOTAL_MAX:
        return cn_duration_resolved(cost->total.max_ns, row->resolution_ns);
    case CN_REPORT_SELF:
        return cost->self.sum_ns;
    case CN_REPORT_SELF_AVG:
        return cn_call_times_mean(&cost->self, cost->calls);
    case CN_REPORT_SELF_MIN:
        return cn_duration_resolved(cost->self.min_ns, row->resolution_ns);
    case CN_REPORT_SELF_MAX:
        return cn_duration_resolved(cost->self.max_ns, row->resolution_ns);
    case CN_REPORT_CALL:
        return cost->calls;
    case CN_REPORT_SIZE:
        return row->function < rec->function_count ? rec->functions[row->function].size
                                                   : 0;
    case CN_REPORT_P50:
    case CN_REPORT_P90:
    case CN_REPORT_P99:
    case CN_REPORT_P999:
        return percentile(row, false, field - CN_REPORT_P50);
    case CN_REPORT_SELF_P50:
    case CN_REPORT_SELF_P90:
    case CN_REPORT_SELF_P99:
    case CN_REPORT_SELF_P999:
        return percentile(row, true, field - CN_REPORT_SELF_P50);
    case CN_REPORT_TOTAL_MIN_TS:
    case CN_REPORT_TOTAL_MAX_TS:
    case CN_REPORT_SELF_MIN_TS:
    case CN_REPORT_SELF_MAX_TS:
        return row->moments ? row->moments->list[field - CN_REPORT_TOTAL_MIN_TS].begin_ns
                            : 0;
    case CN_REPORT_CPU_COUNT:
    case CN_REPORT_CPU_MASK:
    case CN_REPORT_CPU_LIST:
        return cn_processors_count(&row->processors);
    case CN_REPORT_TOTAL_STDV:
    case CN_REPORT_SELF_STDV:
    case CN_REPORT_FIELD_COUNT:
        break;
    }
    return 0;
}

void cn_report_text(const struct cn_call_row *row, enum cn_report_field field,
                    struct cn_text *text)
{
    size_t count = cn_processors_count(&row->processors);

    if (field == CN_REPORT_CPU_MASK)
        cn_processors_print_mask(&row->processors, text);
    else if (field == CN_REPORT_CPU_LIST)
        cn_processors_print_list(&row->processors, text);
    else if (count > 0)
        cn_text_printf(text, "%zu", count);
}

double cn_report_percent(const struct cn_call_row *row, enum cn_report_field field)
{
    const struct cn_call_cost *cost = &row->cost;

    return field == CN_REPORT_TOTAL_STDV
               ? cn_call_times_deviation(&cost->total, &cost->total_squares, cost->calls)
               : cn_call_times_deviation(&cost->self, &cost->self_squares, cost->calls);
}

struct sort_context {
    const struct cn_report_layout *layout;
    const struct cn_recording *rec;
};

static int compare_key(const struct cn_recording *rec, const struct cn_call_row *a,
                       const struct cn_call_row *b, int key)
{
    enum cn_report_field field = (enum cn_report_field)key;

    if (key == CN_REPORT_BY_NAME)
        return strcmp(a->name, b->name);
    if (cn_report_fields[key].flags & CN_OUTPUT_PERCENT) {
        double x = cn_report_percent(a, field), y = cn_report_percent(b, field);

        return x > y ? -1 : x < y;
    } else {
        uint64_t x = cn_report_value(rec, a, field), y = cn_report_value(rec, b, field);

        return x > y ? -1 : x < y;
    }
}

static int compare_rows(const void *a, const void *b, void *arg)
{
    const struct sort_context *context = arg;

    for (size_t i = 0; i < context->layout->key_count; i++) {
        int order = compare_key(context->rec, a, b, context->layout->keys[i]);

        if (order != 0)
            return order;
    }
    return compare_key(context->rec, a, b, CN_REPORT_BY_NAME);
}

void cn_report_sort(const struct cn_report_layout *layout, const struct cn_recording *rec,
                    struct cn_call_row *rows, size_t count)
{
    struct sort_context context = {layout, rec};

    if (count > 0)
        qsort_r(rows, count, sizeof(*rows), compare_rows, &context);
}
