/* cairn store tail: spans as they arrive. */

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/bytes/json.h"
#include "base/bytes/utf8.h"
#include "base/date.h"
#include "base/duration.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/args.h"
#include "store/index/row.h"
#include "store/search/follow.h"
#include "store/traceql/traceql.h"

enum { LINES_DEFAULT = 10, DURATION_WIDTH = 10, SERVICE_WIDTH = 16 };
static const uint64_t every_ns = 1000000000;

struct tail {
    bool is_json;
    struct cn_text line;
};

static void pad(struct cn_text *line, size_t begin, size_t width)
{
    size_t len = line->len - begin;

    cn_text_fill(line, ' ', len < width ? width - len : 0);
    cn_text_str_add(line, "  ");
}

/* One line, whatever the sender wrote: control characters and bytes that are not UTF-8 appear as
 * \xHH. */
static void add_plain(struct cn_text *line, const struct cn_text *text)
{
    cn_utf8_add_printable_chars(line, cn_text_str(text), text->len);
}

static void print_text(struct tail *tail, const struct cn_store_row *row,
                       const struct cn_text *service, const struct cn_text *name)
{
    struct cn_text *line = &tail->line;
    struct cn_text duration = {0};

    cn_date_print(line, row->time_ns, 3);
    cn_duration_print(&duration, row->duration_ns);
    cn_text_fill(line, ' ',
                 duration.len < DURATION_WIDTH ? DURATION_WIDTH - duration.len : 1);
    cn_text_printf(line, "%s  ", cn_text_str(&duration));
    cn_text_done(&duration);
    cn_text_printf(line, "%s  ", row->flags & CN_ROW_ERROR ? "ERROR" : "     ");
    size_t begin = line->len;
    add_plain(line, service);
    pad(line, begin, SERVICE_WIDTH);
    cn_text_printf(line, "%016" PRIx64 "%016" PRIx64 "  ", row->trace_high,
                   row->trace_low);
    add_plain(line, name);
}

/* Those between values; in texts they are written as \n. */
static void remove_newlines(struct cn_text *text)
{
    size_t len = 0;

    for (size_t i = 0; i < text->len; i++)
        if (text->chars[i] != '\n')
            text->chars[len++] = text->chars[i];
    text->chars[len] = '\0';
    text->len = len;
}

static void print_json(struct tail *tail, const struct cn_store_row *row,
                       const struct cn_text *service, const struct cn_text *type,
                       const struct cn_text *name)
{
    struct cn_json json = {.text = &tail->line};
    char id[33];

    cn_json_object(&json);
    cn_json_add_u64(&json, "time_ns", row->time_ns);
    cn_json_add_u64(&json, "duration_ns", row->duration_ns);
    cn_json_add_str(&json, "type", type->len > 0 ? cn_text_str(type) : NULL);
    cn_json_add_str(&json, "service", service->len > 0 ? cn_text_str(service) : NULL);
    cn_json_add_u64(&json, "errors", row->errors);
    (void)snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, row->trace_high,
                   row->trace_low);
    cn_json_add_str(&json, "trace_id", id);
    (void)snprintf(id, sizeof(id), "%016" PRIx64, row->span_id);
    cn_json_add_str(&json, "span_id", row->span_id ? id : NULL);
    (void)snprintf(id, sizeof(id), "%016" PRIx64, row->parent_id);
    cn_json_add_str(&json, "parent_id", row->parent_id ? id : NULL);
    cn_json_add_str(&json, "method", cn_text_str(name));
    cn_json_end(&json);
    remove_newlines(&tail->line);
}

static bool visit(void *arg, struct cn_search *search, const struct cn_search_hit *hit,
                  struct cn_error *err)
{
    struct tail *tail = arg;
    struct cn_text service = {0}, type = {0}, name = {0};
    struct cn_store_row row;
    bool ok =
        cn_search_hit_row(search, hit, &row, err) &&
        (!row.service || cn_search_hit_word(search, hit, row.service, &service, err)) &&
        (!row.type || cn_search_hit_word(search, hit, row.type, &type, err)) &&
        (!row.method || cn_search_hit_word(search, hit, row.method, &name, err));

    cn_text_clear(&tail->line);
    if (ok && tail->is_json)
        print_json(tail, &row, &service, &type, &name);
    else if (ok)
        print_text(tail, &row, &service, &name);
    cn_text_done(&service);
    cn_text_done(&type);
    cn_text_done(&name);
    return ok && (printf("%s\n", cn_text_str(&tail->line)) >= 0 ||
                  cn_fail_errno(err, "cannot write"));
}

static void pause_ns(uint64_t ns)
{
    struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};

    (void)nanosleep(&pause, NULL);
}

static bool follow_for(struct cn_follow *follow, struct tail *tail, uint64_t lines,
                       uint64_t pause, uint64_t end_ns, struct cn_error *err)
{
    if (!cn_follow_last(follow, lines, visit, tail, err))
        return false;
    for (;;) {
        uint64_t now_ns = cn_clock_ns();

        if (fflush(stdout) != 0)
            return cn_fail_errno(err, "cannot write");
        if (now_ns >= end_ns)
            return true;
        pause_ns(end_ns - now_ns < pause ? end_ns - now_ns : pause);
        if (!cn_follow_next(follow, visit, tail, err))
            return false;
    }
}

static bool read_time(const struct cn_args *args, const char *name, uint64_t *out,
                      struct cn_error *err)
{
    const char *value = cn_args_value(args, name);

    return !value || cn_duration_parse(value, CN_BARE_REFUSED, out, err) ||
           cn_fail_in(err, "--%s", name);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    uint64_t lines, pause = every_ns, length_ns = UINT64_MAX;
    struct cn_text query = {0};
    struct cn_follow *follow;
    struct tail tail = {.is_json = cn_args_has(args, "json")};

    if (!cn_args_u64(args, "lines", 0, 1000000, LINES_DEFAULT, &lines, err) ||
        !read_time(args, "every", &pause, err) ||
        !read_time(args, "for", &length_ns, err))
        return false;
    for (size_t i = 1; i < cn_args_count(args); i++)
        cn_text_printf(&query, "%s%s", i > 1 ? " " : "", cn_args_operand(args, i));
    bool ok = !cn_tql_is_text(cn_text_str(&query)) ||
              cn_fail(err, CN_ERR_USAGE,
                      "TraceQL is about whole traces, which are not complete when spans "
                      "arrive; use the language of 'cairn store search --spans'");
    ok =
        ok && cn_follow_open(&follow, cn_args_operand(args, 0), cn_text_str(&query), err);
    cn_text_done(&query);
    if (!ok)
        return false;
    uint64_t now_ns = cn_clock_ns();
    ok = follow_for(follow, &tail, lines, pause,
                    length_ns < UINT64_MAX - now_ns ? now_ns + length_ns : UINT64_MAX,
                    err);
    cn_text_done(&tail.line);
    cn_follow_close(follow);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("lines", 'n', "N", "begin with the N newest spans (default: 10)"),
    CN_OPTION("json", 0, NULL, "print an object in JSON a line"),
    CN_OPTION("every", 0, "TIME", "look for new spans so often (default: 1s)"),
    CN_OPTION("for", 0, "TIME", "end after this time (default: never)"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store tail traces", "spans as they arrive"},
    {"cairn store tail traces 'service = cart errors' -n 0",
     "spans of a service that fail from now on"},
    {0},
};

const struct cn_command cn_cmd_store_tail = {
    .name = "store tail",
    .operands = "STORE [QUERY]...",
    .operand_min = 1,
    .operand_max = CN_OPERANDS_MAX,
    .summary = "print spans of a store as they arrive",
    .description =
        "Prints the newest spans that match, then each span that matches within a second "
        "after it was stored, until it is interrupted: time, duration, whether it "
        "failed, "
        "service, trace and name. The QUERY is that of cairn store search --spans: all "
        "conditions are about the same span. Spans are printed as they arrive, which is "
        "not the order of their times. A collector may write to the store, join its "
        "segments and remove old ones meanwhile.",
    .examples = examples,
    .options = options,
    .run = run,
};
