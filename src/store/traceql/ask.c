/* Queries of people: TraceQL, with times after it, wherever the language of store/search is taken. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/run/clock.h"
#include "base/text.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/traceql/traceql.h"

bool cn_tql_is_text(const char *text)
{
    while (isspace((unsigned char)*text) || *text == '(')
        text++;
    return *text == '{';
}

/* Where the word before `end` begins; a text in quotes is one word. */
static size_t word_before(const char *text, size_t end)
{
    if (end > 0 && text[end - 1] == '"') {
        size_t at = end - 1;

        while (at > 0 && text[at - 1] != '"')
            at--;
        return at > 0 ? at - 1 : 0;
    }
    while (end > 0 && !isspace((unsigned char)text[end - 1]))
        end--;
    return end;
}

static size_t without_blanks(const char *text, size_t end)
{
    while (end > 0 && isspace((unsigned char)text[end - 1]))
        end--;
    return end;
}

static bool is_time_word(const char *word, size_t len)
{
    static const char *const words[] = {"since", "until", "last"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (len == strlen(words[i]) && strncasecmp(word, words[i], len) == 0)
            return true;
    return false;
}

/* The length of the TraceQL at the beginning: times follow it, "since 2026-01-01", "last 2h". */
static size_t traceql_len(const char *text)
{
    size_t end = without_blanks(text, strlen(text));

    for (;;) {
        size_t value = word_before(text, end);
        size_t word_end = without_blanks(text, value);
        size_t word = word_before(text, word_end);

        if (value == end || !is_time_word(text + word, word_end - word))
            return end;
        end = without_blanks(text, word);
    }
}

bool cn_tql_ask(struct cn_tql_program **out, struct cn_tql_range *range, const char *text,
                uint64_t now_ns, struct cn_error *err)
{
    size_t len = traceql_len(text);
    struct cn_query *times;
    bool ok;

    if (!cn_query_parse(&times, text + len, now_ns, err))
        return false;
    range->first_ns = times->first_ns;
    range->last_ns = times->last_ns;
    cn_query_free(times);
    char *query = strndup(text, len);
    ok = query && cn_tql_parse(out, query, err);
    free(query);
    return ok;
}

bool cn_tql_query_of(struct cn_query **out, struct cn_search *search, const char *text,
                     uint64_t now_ns, struct cn_error *err)
{
    struct cn_tql_range range = {0};
    struct cn_tql_program *program;

    if (!cn_tql_is_text(text))
        return cn_query_parse(out, text, now_ns, err);
    if (!cn_tql_ask(&program, &range, text, now_ns, err))
        return false;
    bool ok = cn_tql_query(out, search, program, &range, err);
    cn_tql_program_free(program);
    return ok;
}

bool cn_tql_store_query_open(struct cn_store_query *out, const char *path,
                             const char *text, struct cn_error *err)
{
    struct cn_store_query opened = {0};

    if (!cn_tql_is_text(text))
        return cn_store_query_open(out, path, text, err);
    if (!cn_store_open(&opened.store, path, err) ||
        !cn_search_open(&opened.search, opened.store, err) ||
        !cn_tql_query_of(&opened.query, opened.search, text, cn_clock_date_ns(), err)) {
        cn_store_query_close(&opened);
        return false;
    }
    *out = opened;
    return true;
}
