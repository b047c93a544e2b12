/* How fast are the parsers that no library replaces? Prints, a line each: name, nanoseconds.
 *
 *   bench_parsers
 *
 * `regex` and `regexec` are the time of one name of a function, the cheapest and the dearest of
 * five patterns; `cbor` is the time of a call on the wire until it is a node of a trace.
 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regex.h"
#include "base/run/clock.h"
#include "formats/zorka/body.h"
#include "support/requests.h"

enum { NAMES = 200000, TRACES = 20000, ROUNDS = 5 };

static const char *const patterns[] = {"^net_(read|write)", "alloc|free",
                                       "[0-9]+_of_[a-z]+$", "(get|set)[A-Z]?\\w*_item",
                                       "^std::.*<.*>::push"};

static char **make_names(void)
{
    static const char *const parts[] = {"net_",  "std::vector<int>::",
                                        "get_",  "read",
                                        "write", "push_back",
                                        "alloc", "_item",
                                        "_of_",  "buffer",
                                        "index", "compute"};
    char **names = cn_alloc(NAMES, sizeof(*names));
    uint64_t state = 1;

    for (size_t i = 0; i < NAMES; i++) {
        struct cn_text text = {0};

        for (unsigned k = 0; k < 4; k++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            cn_text_str_add(&text, parts[(state >> 33) % 12]);
        }
        cn_text_printf(&text, "%zu", i);
        names[i] = cn_strdup(cn_text_str(&text));
        cn_text_done(&text);
    }
    return names;
}

static double ours_ns(const char *pattern, char **names, size_t *matches)
{
    struct cn_regex *regex;
    struct cn_error err;
    uint64_t begin_ns;
    double taken;

    if (!cn_regex_new(&regex, pattern, 0, &err))
        abort();
    begin_ns = cn_clock_ns();
    for (size_t i = 0; i < NAMES; i++)
        *matches += cn_regex_matches(regex, names[i], strlen(names[i]));
    taken = (double)(cn_clock_ns() - begin_ns) / NAMES;
    cn_regex_free(regex);
    return taken;
}

static double library_ns(const char *pattern, char **names, size_t *matches)
{
    regex_t regex;
    uint64_t begin_ns;
    double taken;

    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        abort();
    begin_ns = cn_clock_ns();
    for (size_t i = 0; i < NAMES; i++)
        *matches += regexec(&regex, names[i], 0, NULL, 0) == 0;
    taken = (double)(cn_clock_ns() - begin_ns) / NAMES;
    regfree(&regex);
    return taken;
}

/* The least of some rounds. */
static double least(double (*measure)(const char *, char **, size_t *),
                    const char *pattern, char **names, size_t *matches)
{
    double best = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        double taken;

        *matches = 0;
        taken = measure(pattern, names, matches);
        if (round == 0 || taken < best)
            best = taken;
    }
    return best;
}

static int measure_regex(void)
{
    double ours[2] = {1e9, 0}, library[2] = {1e9, 0};
    char **names = make_names();
    int status = 0;

    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
        size_t found, found_too;
        double a = least(ours_ns, patterns[i], names, &found);
        double b = least(library_ns, patterns[i], names, &found_too);

        ours[0] = a < ours[0] ? a : ours[0];
        ours[1] = a > ours[1] ? a : ours[1];
        library[0] = b < library[0] ? b : library[0];
        library[1] = b > library[1] ? b : library[1];
        if (found == found_too)
            continue;
        (void)fprintf(stderr, "'%s' matches %zu names, in the C library %zu\n",
                      patterns[i], found, found_too);
        status = 1;
    }
    (void)printf("regex %.0f to %.0f\nregexec %.0f to %.0f\n", ours[0], ours[1],
                 library[0], library[1]);
    for (size_t i = 0; i < NAMES; i++)
        free(names[i]);
    free(names);
    return status;
}

/* Decode the symbols and traces of requests; false if one cannot be read. */
static bool read_body(struct cn_zorka_session *session, struct cn_words *words,
                      const struct cn_text *text, struct cn_trace *trace, uint64_t *calls)
{
    struct cn_bytes bytes = {(const uint8_t *)cn_text_str(text), text->len};
    struct cn_zorka_body body;
    struct cn_error err;
    enum cn_step step;

    cn_zorka_body_begin(&body, session, bytes);
    while ((step = cn_zorka_body_next(&body, words, trace, &err)) == CN_ITEM)
        *calls += trace->node_count;
    cn_zorka_body_done(&body);
    return step == CN_END;
}

static int measure_cbor(void)
{
    struct cn_zorka_session *session = cn_zorka_session_new();
    struct cn_words words = {0};
    struct cn_requests requests;
    struct cn_trace trace = {0};
    uint64_t calls = 0, taken_ns = 0;
    bool is_good = true;

    cn_zorka_session_target(session, &words);
    cn_requests_init(&requests, 1);
    for (unsigned i = 0; i < TRACES && is_good; i++) {
        uint64_t begin_ns, ignored = 0;

        cn_requests_next(&requests);
        if (requests.symbols.len > 0)
            is_good = read_body(session, &words, &requests.symbols, &trace, &ignored);
        begin_ns = cn_clock_ns();
        is_good = is_good && read_body(session, &words, &requests.trace, &trace, &calls);
        taken_ns += cn_clock_ns() - begin_ns;
    }
    if (is_good)
        (void)printf("cbor %.0f\n", (double)taken_ns / (double)calls);
    cn_requests_done(&requests);
    cn_trace_done(&trace);
    cn_words_done(&words);
    cn_zorka_session_free(session);
    return is_good ? 0 : 1;
}

int main(void)
{
    int regex = measure_regex(), cbor = measure_cbor();

    return regex ? regex : cbor;
}
