#include "store/sampling/rules.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "store/search/query.h"
#include "store/segment/config.h"
#include "store/traceql/traceql.h"

/* "12.5%", with up to four decimals. */
static bool parse_rate(const char *text, uint32_t *out, struct cn_error *err)
{
    char *end;
    double percent = strtod(text, &end);
    double rate = round(percent * (CN_RATE_ALL / 100));

    if (end == text || strcmp(end, "%") != 0 ||
        strspn(text, "0123456789.") != (size_t)(end - text) || percent > 100 ||
        (percent > 0 && rate < 1))
        return cn_fail(err, CN_ERR_USAGE,
                       "'%s' is not a rate: 0%%, 100%% or between, at least 0.0001%%",
                       text);
    *out = (uint32_t)rate;
    return true;
}

/* Errors of a query are those of the command line, not of the first segment. */
static bool check_query(const char *text, struct cn_error *err)
{
    struct cn_tql_program *program;
    struct cn_tql_range range = {0};
    struct cn_query *query;

    if (*text == '\0')
        return cn_fail(err, CN_ERR_USAGE,
                       "no query before the rate; 'rest' is all others");
    if (!cn_tql_is_text(text)) {
        if (!cn_query_parse(&query, text, cn_clock_date_ns(), err))
            return false;
        cn_query_free(query);
        return true;
    }
    if (!cn_tql_ask(&program, &range, text, cn_clock_date_ns(), err))
        return false;
    bool is_metrics = program->is_metrics;
    cn_tql_program_free(program);
    return !is_metrics ||
           cn_fail(err, CN_ERR_USAGE, "metrics do not match traces; leave out rate()");
}

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text + strspn(text, " \t\r\n");
}

/* Changes the line. */
static bool parse_rule(struct cn_sample_rules *rules, char *line, struct cn_error *err)
{
    char *colon = strrchr(line, ':');
    struct cn_sample_rule rule = {0};

    if (!colon)
        return cn_fail(err, CN_ERR_USAGE,
                       "'%s' is not a rule: QUERY: RATE%%, such as 'errors: 100%%'",
                       line);
    *colon = '\0';
    char *query = trim(line);
    bool is_rest = strcmp(query, "rest") == 0;
    if (!parse_rate(trim(colon + 1), &rule.rate, err) ||
        (!is_rest && !check_query(query, err)))
        return cn_fail_in(err, "rule %zu, '%.80s'", rules->count + 1, query);
    if (rules->count > 0 && !rules->list[rules->count - 1].query)
        return cn_fail(err, CN_ERR_USAGE,
                       "rule %zu, '%.80s': it follows 'rest', which decides all traces",
                       rules->count + 1, query);
    if (rules->count == CN_SAMPLE_RULES_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d rules", CN_SAMPLE_RULES_MAX);
    rule.query = is_rest ? NULL : cn_strdup(query);
    rules->list[rules->count++] = rule;
    return true;
}

bool cn_sample_rules_add(struct cn_sample_rules **rules, const char *line,
                         struct cn_error *err)
{
    struct cn_sample_rules *made = *rules ? *rules : cn_alloc(1, sizeof(*made));
    char *copy = cn_strdup(line), *text = trim(copy);
    bool ok = *text == '\0' || *text == '#' || parse_rule(made, text, err);

    free(copy);
    if (ok)
        *rules = made;
    else if (!*rules)
        cn_sample_rules_free(made);
    return ok;
}

static bool read_lines(struct cn_sample_rules **rules, struct cn_bytes text,
                       struct cn_error *err)
{
    for (unsigned number = 1; text.len > 0; number++) {
        const uint8_t *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t)(end - text.ptr) : text.len;
        char *line = strndup((const char *)text.ptr, len);
        bool ok = line && (!memchr(text.ptr, '\0', len)
                               ? cn_sample_rules_add(rules, line, err)
                               : cn_fail(err, CN_ERR_USAGE, "a zero byte"));

        free(line);
        if (!ok)
            return cn_fail_in(err, "line %u", number);
        text.ptr += len + (end != NULL);
        text.len -= len + (end != NULL);
    }
    return true;
}

bool cn_sample_rules_open(struct cn_sample_rules **out, const char *path,
                          struct cn_error *err)
{
    struct cn_sample_rules *rules = NULL;
    struct cn_file file = {0};
    bool ok = cn_file_open(&file, path, err);

    ok = ok && ((read_lines(&rules, file.bytes, err) &&
                 (rules || cn_fail(err, CN_ERR_USAGE, "no rules"))) ||
                cn_fail_in(err, "%s", path));
    cn_file_close(&file);
    if (!ok) {
        cn_sample_rules_free(rules);
        return false;
    }
    *out = rules;
    return true;
}

void cn_sample_rules_free(struct cn_sample_rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->count; i++)
        free(rules->list[i].query);
    free(rules);
}

/* The finalizer of SplitMix64. */
static uint64_t mix(uint64_t bits)
{
    bits += 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

bool cn_sample_keeps(uint64_t trace_high, uint64_t trace_low, uint32_t rate)
{
    uint64_t share = mix(mix(trace_high) ^ trace_low) >> 32;

    return share * CN_RATE_ALL >> 32 < rate;
}
