/* The spans of a distributed trace are joined where one called the other, in order of time. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "model/calls/recording.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/trace/distributed.h"
#include "store/write/writer.h"
#include "support/scratch.h"

static const uint64_t begin_ns = UINT64_C(1767225600000000000);

struct call {
    const char *name;
    uint64_t start_ns, end_ns;
};

/* The first call with those after it inside, one after the other. */
static void add_span(struct cn_store_writer *writer, uint64_t id, uint64_t parent_id,
                     uint64_t time_ns, const struct call *calls, size_t count)
{
    struct cn_trace trace = {0};
    struct cn_error err = {0};
    struct cn_trace_span *span;
    struct cn_words *words;

    assert_true(cn_store_writer_begin(writer, &words, &err));
    cn_trace_clear(&trace);
    trace.words = words;
    trace.id_high = 0xabc;
    trace.id_low = 0xdef;
    for (size_t i = 0; i < count; i++) {
        uint32_t branches[3] = {
            cn_words_add_str(words, CN_WORD_CLASS, "C"),
            cn_words_add_str(words, CN_WORD_METHOD_NAME, calls[i].name),
        };

        assert_true(cn_trace_enter(&trace,
                                   cn_words_add_parts(words, CN_WORD_METHOD, branches, 3),
                                   calls[i].start_ns, &err));
        if (i > 0) {
            cn_trace_leave(&trace, calls[i].end_ns, 1);
            continue;
        }
        span = cn_trace_add_span(&trace, begin_ns + time_ns);
        span->id = id;
        span->parent_id = parent_id;
    }
    cn_trace_leave(&trace, calls[0].end_ns, count);
    assert_true(cn_store_writer_add(writer, &trace, NULL, &err));
    cn_trace_done(&trace);
}

static void make_store(void)
{
    static const struct call web[] = {
        {"web", 0, 100}, {"parse", 0, 30}, {"send", 60, 90}};
    static const struct call shop[] = {{"shop", 0, 20}, {"load", 5, 15}};
    static const struct call late[] = {{"late", 0, 40}};
    static const struct call lost[] = {{"lost", 0, 10}};
    struct cn_store_writer *writer;
    struct cn_error err = {0};

    assert_true(cn_store_init("store", NULL, &err));
    assert_true(cn_store_writer_open(&writer, "store", NULL, &err));
    add_span(writer, 3, 1, 70, late, 1);
    add_span(writer, 1, 0, 0, web, 3);
    assert_true(cn_store_writer_rotate(writer, &err));
    add_span(writer, 2, 1, 35, shop, 2);
    add_span(writer, 4, 99, 200, lost, 1);
    assert_true(cn_store_writer_close(writer, &err));
}

static void load(struct cn_trace_set *set, struct cn_store **store,
                 struct cn_search **search)
{
    struct cn_error err = {0};
    struct cn_query *query;

    assert_true(cn_query_parse(&query, "id starts 0000000000000abc", 0, &err));
    assert_true(cn_store_open(store, "store", &err));
    assert_true(cn_search_open(search, *store, &err));
    assert_true(cn_trace_set_load(set, *search, query, &err));
    cn_query_free(query);
}

static bool print_call(void *arg, const struct cn_trace_branch *branch, uint32_t node,
                       uint32_t depth)
{
    struct cn_text *text = arg;

    cn_text_printf(text, "%u ", depth);
    cn_words_print_method_name(branch->trace.words, branch->trace.nodes[node].method,
                               text);
    cn_text_char(text, '\n');
    return true;
}

static void print_recording(const struct cn_recording *rec, struct cn_text *text)
{
    for (uint32_t task = 0; task < rec->task_count; task++) {
        struct cn_call_stream *stream;
        struct cn_call_batch batch;
        struct cn_error err = {0};

        assert_true(cn_recording_stream_open(rec, task, cn_time_always, &stream, &err));
        while (cn_call_stream_next(stream, &batch, &err) == CN_ITEM)
            for (size_t i = 0; i < batch.count; i++)
                cn_text_printf(text, "%u:%u %s%s\n", task,
                               (unsigned)(batch.calls[i].time_ns - begin_ns),
                               batch.calls[i].kind == CN_CALL_ENTER ? "" : "/",
                               rec->functions[batch.calls[i].function].name);
        cn_call_stream_close(stream);
    }
}

static void branches_are_visited_in_order_of_time(void **state)
{
    struct cn_search *search;
    struct cn_trace_set set;
    struct cn_store *store;
    struct cn_text text = {0};

    (void)state;
    make_store();
    load(&set, &store, &search);
    cn_trace_set_walk(&set, print_call, &text);
    assert_string_equal(cn_text_str(&text), "0 C.web\n1 C.parse\n1 C.shop\n2 C.load\n"
                                            "1 C.send\n1 C.late\n0 C.lost\n");
    cn_text_done(&text);
    cn_trace_set_done(&set);
    cn_search_close(search);
    cn_store_close(store);
}

static void becomes_a_recording(void **state)
{
    struct cn_recording *nested, *apart;
    struct cn_search *search;
    struct cn_trace_set set;
    struct cn_store *store;
    struct cn_text text = {0};

    (void)state;
    make_store();
    load(&set, &store, &search);
    nested = cn_trace_set_recording(&set, true);
    print_recording(nested, &text);
    /* A call that overlaps another has a task of its own. */
    assert_string_equal(cn_text_str(&text),
                        "0:0 C.web\n0:0 C.parse\n0:30 /C.parse\n0:35 C.shop\n"
                        "0:40 C.load\n0:50 /C.load\n0:55 /C.shop\n0:60 C.send\n"
                        "0:90 /C.send\n0:100 /C.web\n0:200 C.lost\n0:210 /C.lost\n"
                        "1:70 C.late\n1:110 /C.late\n");
    cn_text_clear(&text);
    apart = cn_trace_set_recording(&set, false);
    print_recording(apart, &text);
    assert_string_equal(cn_text_str(&text),
                        "0:0 C.web\n0:0 C.parse\n0:30 /C.parse\n0:60 C.send\n"
                        "0:90 /C.send\n0:100 /C.web\n0:200 C.lost\n0:210 /C.lost\n"
                        "1:35 C.shop\n1:40 C.load\n1:50 /C.load\n1:55 /C.shop\n"
                        "1:70 C.late\n1:110 /C.late\n");
    cn_recording_close(nested);
    cn_recording_close(apart);
    cn_text_done(&text);
    cn_trace_set_done(&set);
    cn_search_close(search);
    cn_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(branches_are_visited_in_order_of_time),
        CN_SCRATCH_TEST(becomes_a_recording),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
