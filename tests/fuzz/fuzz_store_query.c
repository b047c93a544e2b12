/* Any text as a query: it is understood or refused, and can be matched against any text. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/search/query.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_error err = {0};
    struct cn_query *query;
    struct cn_bytes sample = {data, len < 200 ? len : 200};
    char *text = cn_alloc(len + 1, 1);

    if (len > 0)
        memcpy(text, data, len);
    if (cn_query_parse(&query, text, UINT64_C(1767225600000000000), &err)) {
        for (size_t i = 0; i < query->count; i++) {
            const struct cn_query_step *step = &query->steps[i];

            assert(step->kind != CN_QUERY_STEP_SKIP || step->target <= query->count);
            if (step->kind == CN_QUERY_STEP_TERM && step->term.field > CN_QUERY_PARENT) {
                (void)cn_query_text_matches(&step->term, sample);
                (void)cn_query_name_matches(&step->term, sample);
            }
        }
        cn_query_free(query);
    } else {
        assert(err.text[0]);
    }
    free(text);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char *const seeds[] = {
        "",
        "errors and not (service = shop or http.status >= 500)",
        "since \"2026-01-01 10:00\" until 2026-01-02T03:04:05.678Z duration > 100ms",
        "last 2h method ~ \"^com\\.(a|b)[^x]{2,5}.*$\" 'free text' exists",
        "id starts 4c span = ff parent exists @type != x root.user contains \"q\\\"\"",
    };

    for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
        emit((const uint8_t *)seeds[i], strlen(seeds[i]));
}
