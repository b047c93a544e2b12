/* Any lines as filters, triggers, places, times and selections of threads, as people type them and
 * recordings bring them along: they are understood or refused, and calls can be shown by them. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/filter.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "model/contexts/identity.h"
#include "support/fake_recording.h"
#include "support/fuzz.h"

enum { LINES_MAX = 20 };

static const char *const names[] = {"main", "net_read", "net::Socket::write(int)", "a",
                                    NULL};

static const struct cn_call calls[] = {
    CN_FAKE_ENTER(10, 0, 0), CN_FAKE_ENTER(20, 1, 1), CN_FAKE_ENTER(30, 2, 2),
    CN_FAKE_EXIT(40, 2, 2),  CN_FAKE_EXIT(50, 1, 1),  CN_FAKE_ENTER(60, 3, 1),
    CN_FAKE_EXIT(70, 3, 1),  CN_FAKE_EXIT(80, 0, 0),
};

static void select_threads(const char *text)
{
    static const char *const list[] = {"SUMMARY", "NODE", "RANK", "THREAD"};
    static const struct cn_kinds kinds = {list, 4};
    struct cn_identity_tuple tuple = {
        2, {{.kind = 2, .logical = 3, .physical = 3}, {.kind = 3, .logical = 0}}};
    struct cn_thread_filter filter = {0};
    struct cn_error err = {0};

    if (cn_thread_filter_parse(&filter, text, &kinds, &err))
        (void)cn_thread_filter_matches(&filter, 5, &tuple);
    else
        assert(err.text[0] != '\0');
    cn_thread_filter_done(&filter);
}

/* One line after the other is meant in another way. */
static void add_line(struct cn_call_filter *filter, size_t number, const char *line)
{
    enum { KINDS = CN_FILTER_TRIGGER + 1, WAYS = 2 * KINDS + 3 };
    size_t way = number % WAYS;
    struct cn_error err = {0};
    bool ok = true;

    if (way < KINDS)
        ok = cn_call_filter_add(filter, (enum cn_filter_kind)way, line, CN_MATCH_REGEX,
                                &err);
    else if (way < 2 * KINDS)
        ok = cn_call_filter_add(filter, (enum cn_filter_kind)(way - KINDS), line,
                                CN_MATCH_GLOB, &err);
    else if (way == 2 * KINDS)
        ok = cn_call_filter_add_file(filter, line, CN_MATCH_REGEX, &err);
    else if (way == 2 * KINDS + 1)
        ok = cn_duration_parse(line, CN_BARE_NS, &filter->time_ns, &err);
    else
        select_threads(line);
    assert(ok || err.text[0] != '\0');
}

static void show(const struct cn_call_filter *filter)
{
    struct cn_filter_scope scope = {.depth_left = filter->depth};
    struct cn_call_batch batch = {.calls = calls,
                                  .count = sizeof(calls) / sizeof(calls[0])};
    bool is_on = !filter->is_off;

    for (size_t i = 0; i < batch.count; i++) {
        struct cn_call_rule rule;

        if (calls[i].kind != CN_CALL_ENTER)
            continue;
        cn_call_filter_rule(filter, &calls[i], &batch, &rule);
        (void)cn_call_filter_enter(filter, &calls[i], &rule, &scope, &is_on);
        (void)cn_call_filter_shows(filter, &scope, is_on);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = cn_alloc(len + 1, 1), *line = text;
    struct cn_fake_recording fake;
    struct cn_call_filter filter;

    if (len > 0)
        memcpy(text, data, len);
    cn_fake_recording_init(&fake, names);
    cn_call_filter_init(&filter, &fake.rec);
    for (size_t i = 0; line && i < LINES_MAX; i++) {
        char *end = strchr(line, '\n');

        if (end)
            *end++ = '\0';
        add_line(&filter, i, line);
        line = end;
    }
    cn_call_filter_ready(&filter);
    show(&filter);
    cn_call_filter_done(&filter);
    free(text);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char *const seeds[] = {
        "^net_\na\nmain\nnet::.*@module\nmain@depth=2,backtrace,color=red,time=10us\n"
        "net_*\n*\nm?in\n[a-n]*\na@trace_off\nsrc/.*\\.c@hide\n1.5ms\nRANK 0-3,7 THREAD "
        "0",
        "main@if:arg1>3\na@if:arg2 == "
        "-5\nmain@if:arg3&0x10\n\na@trace_on,finish\n\n\n\n\n\n"
        "file.c\n2h\n5-8",
    };

    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
        emit((const uint8_t *)seeds[i], strlen(seeds[i]));
}
