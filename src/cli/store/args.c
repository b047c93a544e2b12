#include "cli/store/args.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/duration.h"
#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/shell/cli.h"
#include "store/sampling/rules.h"
#include "store/search/names.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/segment/weights.h"
#include "store/traceql/traceql.h"
#include "store/write/redact.h"
#include "store/write/writer.h"

bool cn_store_query_open_args(struct cn_store_query *out, const struct cn_args *args,
                              struct cn_error *err)
{
    struct cn_text query = {0};

    for (size_t i = 1; i < cn_args_count(args); i++)
        cn_text_printf(&query, "%s%s", i > 1 ? " " : "", cn_args_operand(args, i));
    bool ok =
        cn_tql_store_query_open(out, cn_args_operand(args, 0), cn_text_str(&query), err);
    cn_text_done(&query);
    if (ok) {
        cn_store_warn_missing(args, out->store);
        cn_store_warn_names(args, out);
    }
    return ok;
}

void cn_store_warn_names(const struct cn_args *args, const struct cn_store_query *query)
{
    struct cn_text unknown = {0};

    cn_search_print_unknown(query->search, query->query, &unknown);
    if (unknown.len > 0)
        cn_cli_warn(args, "%s", cn_text_str(&unknown));
    cn_text_done(&unknown);
}

void cn_store_warn_missing(const struct cn_args *args, const struct cn_store *store)
{
    for (size_t i = 0; i < cn_store_missing_count(store); i++)
        cn_cli_warn(args, "fresh traces are missing: %s", cn_store_missing(store, i));
}

size_t cn_store_warn_damage(const struct cn_args *args, const struct cn_store *store)
{
    size_t count = 0;

    for (size_t i = 0; i < cn_store_segment_count(store); i++) {
        const struct cn_segment *segment = cn_store_segment(store, i);
        struct cn_error loss;

        if (!cn_segment_is_damaged(segment))
            continue;
        count++;
        if (cn_segment_check(segment, &loss))
            cn_cli_warn(args,
                        "segment %06" PRIx32
                        ": a damaged file was rebuilt in memory; 'cairn store verify' "
                        "names it",
                        cn_segment_number(segment));
        else
            cn_cli_warn(args, "%s", loss.text);
    }
    return count;
}

bool cn_redaction_option(const struct cn_args *args, struct cn_redaction **out,
                         struct cn_error *err)
{
    const char *path = cn_args_value(args, "redact-file");
    struct cn_values given = cn_args_values(args, "redact");
    struct cn_redaction *rules = NULL;
    bool ok = true;

    if (path && !cn_redaction_open(&rules, path, err))
        return false;
    for (size_t i = 0; ok && i < given.count; i++)
        ok = cn_redaction_add(&rules, given.list[i], err) ||
             cn_fail_in(err, "--redact '%s'", given.list[i]);
    if (!ok) {
        cn_redaction_free(rules);
        return false;
    }
    *out = rules;
    return true;
}

bool cn_sample_option(const struct cn_args *args, struct cn_sample_rules **out,
                      struct cn_error *err)
{
    const char *path = cn_args_value(args, "sample-file");
    struct cn_values given = cn_args_values(args, "sample");
    struct cn_sample_rules *rules = NULL;
    bool ok = true;

    if (path && !cn_sample_rules_open(&rules, path, err))
        return false;
    for (size_t i = 0; ok && i < given.count; i++)
        ok = cn_sample_rules_add(&rules, given.list[i], err) ||
             cn_fail_in(err, "--sample '%s'", given.list[i]);
    if (!ok) {
        cn_sample_rules_free(rules);
        return false;
    }
    *out = rules;
    return true;
}

bool cn_store_has_estimates(const struct cn_store *store)
{
    return cn_store_sampling(store).has_rates;
}

struct cn_table *cn_store_table(const struct cn_args *args,
                                const struct cn_column *columns, size_t count, size_t at,
                                bool has_estimates, struct cn_column *all)
{
    if (!has_estimates)
        return cn_cli_table(args, columns, count);
    memcpy(all, columns, (at + 1) * sizeof(*all));
    all[at + 1] = (struct cn_column){
        .name = "estimated_count", .title = "ESTIMATED", .kind = CN_COLUMN_U64};
    memcpy(all + at + 2, columns + at + 1, (count - at - 1) * sizeof(*all));
    return cn_cli_table(args, all, count + 1);
}

void cn_store_put_count(struct cn_table *table, uint64_t count, bool has_estimates,
                        double estimate)
{
    cn_table_u64(table, count);
    if (has_estimates)
        cn_table_u64(table, (uint64_t)llround(estimate));
}

void cn_store_say_sampled(const struct cn_args *args, const struct cn_store *store)
{
    struct cn_store_sampling sampling = cn_store_sampling(store);
    struct cn_text text = {0};

    if (sampling.segments == 0)
        return;
    cn_store_sampling_print(&text, &sampling);
    cn_cli_say(args, "%s", cn_text_str(&text));
    cn_text_done(&text);
}

bool cn_share_option(const struct cn_args *args, const char *name, double *out,
                     struct cn_error *err)
{
    const char *value = cn_args_value(args, name);
    char *end;

    if (!value)
        return true;
    double percent = strtod(value, &end);
    if (end == value || strcmp(end, "%") != 0 || !(percent > 0 && percent < 100) ||
        strspn(value, "0123456789.") != (size_t)(end - value))
        return cn_fail(err, CN_ERR_USAGE,
                       "--%s: '%s' is not a share of a disk such as 80%%", name, value);
    *out = percent / 100;
    return true;
}

enum cn_store_form cn_compression_option(const struct cn_args *args)
{
    const char *value = cn_args_value(args, "compression");

    if (!value)
        return CN_STORE_FORM_DEFAULT;
    return strcmp(value, "deflate") == 0 ? CN_STORE_DEFLATE
           : strcmp(value, "lz4") == 0   ? CN_STORE_LZ4
                                         : CN_STORE_COLUMNS;
}

bool cn_size_option(const struct cn_args *args, const char *name, uint64_t *out,
                    struct cn_error *err)
{
    const char *value = cn_args_value(args, name);

    return !value || cn_size_parse(value, out, err) || cn_fail_in(err, "--%s", name);
}

void cn_store_say_added(const struct cn_args *args, const char *source,
                        const struct cn_store_added *added)
{
    struct cn_text text = {0};

    if (source)
        cn_text_printf(&text, "%s: ", source);
    if (added->traces > 0 || added->parts == 0)
        cn_count_print_of(&text, added->traces, "trace");
    if (added->parts > 0) {
        cn_text_str_add(&text, added->traces > 0 ? " and " : "");
        cn_count_print_of(&text, added->parts, "part");
        cn_text_str_add(&text, " of traces");
    }
    cn_text_str_add(&text, " added (");
    cn_count_print_of(&text, added->records, "call");
    cn_text_char(&text, ')');
    if (added->known > 0) {
        cn_text_str_add(&text, ", ");
        cn_count_print(&text, added->known);
        cn_text_str_add(&text, " known already");
    }
    if (added->redacted > 0) {
        cn_text_str_add(&text, ", ");
        cn_count_print_of(&text, added->redacted, "value");
        cn_text_str_add(&text, " redacted");
    }
    cn_cli_say(args, "%s", cn_text_str(&text));
    cn_text_done(&text);
}

static void put(struct cn_table *table, bool is_text, uint64_t number,
                void (*print)(struct cn_text *text, uint64_t number))
{
    struct cn_text text = {0};

    print(&text, number);
    if (is_text)
        cn_table_str(table, cn_text_str(&text));
    else
        cn_table_u64(table, number);
    cn_text_done(&text);
}

static void print_time(struct cn_text *text, uint64_t time_ns)
{
    cn_date_print(text, time_ns, 3);
}

void cn_store_put_time(struct cn_table *table, bool is_text, uint64_t time_ns)
{
    put(table, is_text, time_ns, print_time);
}

void cn_store_put_size(struct cn_table *table, bool is_text, uint64_t len)
{
    put(table, is_text, len, cn_size_print);
}

void cn_store_put_rate(struct cn_table *table, uint64_t count, uint64_t time_ns)
{
    if (time_ns > 0)
        cn_table_f64(table, 1e9 * (double)count / (double)time_ns);
    else
        cn_table_none(table);
}
