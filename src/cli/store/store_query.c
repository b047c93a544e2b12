#include "cli/store/store_query.h"

#include <inttypes.h>
#include <time.h>

#include "base/run/clock.h"
#include "cli/shell/args.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"

static const uint64_t second_ns = 1000000000;

bool cn_store_query_open_path(struct cn_store_query *out, const char *path,
                              const char *query, struct cn_error *err)
{
    struct cn_store_query opened = {0};

    if (!cn_query_parse(&opened.query, query, cn_clock_date_ns(), err))
        return false;
    if (!cn_store_open(&opened.store, path, err) ||
        !cn_search_open(&opened.search, opened.store, err)) {
        cn_store_query_close(&opened);
        return false;
    }
    *out = opened;
    return true;
}

bool cn_store_query_open(struct cn_store_query *out, const struct cn_args *args,
                         size_t first, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok;

    for (size_t i = first; i < cn_args_count(args); i++) {
        cn_text_str_add(&text, i > first ? " " : "");
        cn_text_str_add(&text, cn_args_operand(args, i));
    }
    ok = cn_store_query_open_path(out, cn_args_operand(args, 0), cn_text_str(&text), err);
    cn_text_done(&text);
    return ok;
}

void cn_store_query_close(struct cn_store_query *query)
{
    cn_search_close(query->search);
    cn_store_close(query->store);
    cn_query_free(query->query);
    *query = (struct cn_store_query){0};
}

void cn_store_time_print(struct cn_text *text, uint64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / second_ns);
    struct tm date = {0};

    (void)gmtime_r(&seconds, &date);
    cn_text_printf(text, "%04d-%02d-%02d %02d:%02d:%02d.%03" PRIu64, date.tm_year + 1900,
                   date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec,
                   time_ns % second_ns / 1000000);
}
