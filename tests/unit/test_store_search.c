/* Search finds exactly what a look at every trace finds: a thousand random queries over a store
 * of random traces, part of it sealed, part of it still being written to. */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/trace.h"
#include "store/group.h"
#include "store/query.h"
#include "store/reader.h"
#include "store/search.h"
#include "store/writer.h"
#include "support/random_traces.h"
#include "support/scratch.h"

enum {
    SEALED_TRACES = 300,
    LIVE_TRACES = 700, /* a full block of postings, and rows that are in none */
    TRACES = SEALED_TRACES + LIVE_TRACES,
    QUERIES = 1000,
    TEXTS_MAX = 64,
};

#define PICK(a) ((a)[cn_random_below(sizeof(a) / sizeof((a)[0]))])

/* What is known about a row, found without any index. */
struct facts {
    uint32_t segment, row;
    struct cn_store_row data;
    char *type, *service, *root;
    char *methods[TEXTS_MAX], *classes[TEXTS_MAX];
    size_t method_count;
    struct {
        char *name, *value;
        bool is_root;
    } attributes[TEXTS_MAX];
    size_t attribute_count;
    char *exception_classes[TEXTS_MAX], *exception_messages[TEXTS_MAX];
    size_t exception_count;
};

static struct facts facts[TRACES];
static size_t fact_count;
static struct cn_store *store;
static struct cn_search *search;
static struct cn_scratch *scratch;

static char *print_word(const struct cn_words *words, uint32_t word)
{
    struct cn_text text = {0};
    char *copy;

    cn_words_print(words, word, &text);
    copy = cn_strdup(cn_text_str(&text));
    cn_text_done(&text);
    return copy;
}

static void note_attribute(struct facts *f, const char *name, const char *value,
                           bool is_root)
{
    assert_true(f->attribute_count < TEXTS_MAX);
    f->attributes[f->attribute_count].name = cn_strdup(name);
    f->attributes[f->attribute_count].value = cn_strdup(value);
    f->attributes[f->attribute_count++].is_root = is_root;
}

static void note_value(struct facts *f, const struct cn_trace *trace, const char *name,
                       const struct cn_trace_value *value, bool is_root)
{
    const struct cn_trace_value *items = trace->values + value->list.first;
    struct cn_text text = {0};

    if (value->kind == CN_VALUE_LIST) {
        note_value(f, trace, name, &items[0], is_root);
        note_value(f, trace, name, &items[1], is_root);
    } else if (value->kind == CN_VALUE_MAP) {
        char *key = print_word(trace->words, items[0].word);
        char joined[100];

        (void)snprintf(joined, sizeof(joined), "%s.%s", name, key);
        note_value(f, trace, joined, &items[1], is_root);
        free(key);
    } else {
        if (value->kind == CN_VALUE_WORD)
            cn_words_print(trace->words, value->word, &text);
        else
            cn_trace_value_print(value, &text);
        note_attribute(f, name, cn_text_str(&text), is_root);
    }
    cn_text_done(&text);
}

static void note_call(struct facts *f, const struct cn_trace *trace, uint32_t node)
{
    const struct cn_trace_node *call = &trace->nodes[node];
    const struct cn_words *words = trace->words;
    struct cn_text name = {0};

    cn_words_print_method_name(words, call->method, &name);
    f->methods[f->method_count] = cn_strdup(cn_text_str(&name));
    f->classes[f->method_count++] =
        print_word(words, cn_word_part(words, call->method, 0));
    cn_text_done(&name);
    for (uint32_t a = call->first_attribute; a != CN_NONE;
         a = trace->attributes[a].next) {
        char *key = print_word(words, trace->attributes[a].key);

        note_value(f, trace, key, &trace->attributes[a].value, node == 0);
        free(key);
    }
    for (uint32_t e = call->exception; e != 0; e = cn_word_part(words, e, 3)) {
        uint32_t message = cn_word_part(words, e, 1);

        f->exception_classes[f->exception_count] =
            print_word(words, cn_word_part(words, e, 0));
        f->exception_messages[f->exception_count++] =
            message ? print_word(words, message) : NULL;
    }
}

static void note_row(struct cn_segment_loader *loader, uint32_t number, uint32_t row)
{
    const struct cn_segment *segment = cn_store_segment(store, number);
    const struct cn_words *words = cn_segment_words(segment);
    struct facts *f = &facts[fact_count++];
    struct cn_trace trace = {0};
    struct cn_error err = {0};

    f->segment = number;
    f->row = row;
    assert_true(cn_segment_row(segment, row, &f->data, &err));
    if (!cn_segment_load(loader, segment, row, &trace, &err))
        fail_msg("%s", err.text);
    f->type = f->data.type ? print_word(words, f->data.type) : NULL;
    f->service = f->data.service ? print_word(words, f->data.service) : NULL;
    for (uint32_t node = 0; node < trace.node_count; node++)
        note_call(f, &trace, node);
    f->root = f->methods[0];
    cn_trace_done(&trace);
}

static void add_traces(struct cn_store_writer *writer, size_t first, size_t count)
{
    struct cn_trace trace = {0};
    struct cn_error err = {0};
    struct cn_words *words;
    bool is_new;

    for (size_t i = first; i < first + count; i++) {
        assert_true(cn_store_writer_begin(writer, &words, &err));
        cn_random_trace(&trace, words, i);
        if (!cn_store_writer_add(writer, &trace, &is_new, &err))
            fail_msg("%s", err.text);
        assert_true(is_new);
    }
    cn_trace_done(&trace);
}

static int make_store(void **state)
{
    struct cn_store_writer *writer = NULL;
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_error err = {0};
    const char *path = "store";

    (void)state;
    scratch = cn_scratch_enter();
    if (!cn_store_init(path, NULL, &err) ||
        !cn_store_writer_open(&writer, path, NULL, &err))
        fail_msg("%s", err.text);
    add_traces(writer, 0, SEALED_TRACES);
    assert_true(cn_store_writer_rotate(writer, &err));
    add_traces(writer, SEALED_TRACES, LIVE_TRACES);
    assert_true(cn_store_writer_commit(writer, &err));
    /* The writer stays open for a moment: what is not in a block is in no file. */
    if (!cn_store_open(&store, path, &err) || !cn_search_open(&search, store, &err))
        fail_msg("%s", err.text);
    for (uint32_t s = 0; s < cn_store_segment_count(store); s++) {
        for (uint32_t r = 0; r < cn_segment_row_count(cn_store_segment(store, s)); r++)
            note_row(loader, s, r);
    }
    assert_int_equal(fact_count, TRACES);
    cn_segment_loader_free(loader);
    assert_true(cn_store_writer_close(writer, &err));
    return 0;
}

static int drop_store(void **state)
{
    (void)state;
    cn_search_close(search);
    cn_store_close(store);
    for (size_t i = 0; i < fact_count; i++) {
        struct facts *f = &facts[i];

        free(f->type);
        free(f->service);
        for (size_t k = 0; k < f->method_count; k++) {
            free(f->methods[k]);
            free(f->classes[k]);
        }
        for (size_t k = 0; k < f->attribute_count; k++) {
            free(f->attributes[k].name);
            free(f->attributes[k].value);
        }
        for (size_t k = 0; k < f->exception_count; k++) {
            free(f->exception_classes[k]);
            free(f->exception_messages[k]);
        }
    }
    cn_scratch_leave(scratch);
    return 0;
}

/* A query that can be written down and, without understanding what was written, evaluated. */
enum op { EQ, NE, LT, LE, GT, GE, CONTAINS, STARTS, ENDS, MATCHES, NOT_MATCHES, EXISTS };
static const char *const op_names[] = {
    "=", "!=", "<", "<=", ">", ">=", "contains", "starts", "ends", "~", "!~", "exists"};

enum what {
    DURATION,
    ERRORS,
    CALLS,
    RECORDS,
    SINCE,
    ID,
    TYPE,
    SERVICE,
    ROOT,
    METHOD,
    CLASS,
    EXCEPTION,
    EXCEPTION_CLASS,
    EXCEPTION_MESSAGE,
    ATTRIBUTE,
    ROOT_ATTRIBUTE,
    TEXT,
    AND,
    OR,
    NOT
};

struct node {
    enum what what;
    enum op op;
    uint64_t number;
    const char *name, *value;
    struct node *left, *right;
};

static bool is_number(const char *s)
{
    char *end;

    (void)strtod(s, &end);
    return *s && !*end && strspn(s, "-0123456789.") == strlen(s);
}

static bool compare_text(const struct node *n, const char *text)
{
    size_t len = strlen(text), want = strlen(n->value);
    int order = strcmp(text, n->value);

    switch (n->op) {
    case EQ:
    case NE:
        return order == 0;
    case LT:
    case LE:
    case GT:
    case GE:
        if (is_number(n->value)) {
            double a, b = atof(n->value);

            if (!is_number(text))
                return false;
            a = atof(text);
            order = a < b ? -1 : a > b;
        }
        return n->op == LT   ? order < 0
               : n->op == LE ? order <= 0
               : n->op == GT ? order > 0
                             : order >= 0;
    case CONTAINS:
    case MATCHES:
    case NOT_MATCHES:
        return strstr(text, n->value) != NULL;
    case STARTS:
        return strncmp(text, n->value, want) == 0;
    case ENDS:
        return len >= want && strcmp(text + len - want, n->value) == 0;
    case EXISTS:
        return true;
    }
    return false;
}

static bool compare_name(const struct node *n, const char *name)
{
    char dotted[100];
    size_t len = strlen(name), want;

    if (compare_text(n, name))
        return true;
    (void)snprintf(dotted, sizeof(dotted), ".%s", n->value);
    want = strlen(dotted);
    return (n->op == EQ || n->op == NE) && want > 1 && len >= want &&
           strcmp(name + len - want, dotted) == 0;
}

static bool compare_number(const struct node *n, uint64_t value)
{
    bool results[] = {value == n->number, value != n->number,
                      value<n->number, value <= n->number, value> n->number,
                      value >= n->number};

    return results[n->op];
}

static bool any_text(const struct node *n, const struct facts *f)
{
    for (size_t i = 0; i < f->method_count; i++)
        if (compare_text(n, f->methods[i]))
            return true;
    for (size_t i = 0; i < f->attribute_count; i++)
        if (compare_text(n, f->attributes[i].name) ||
            compare_text(n, f->attributes[i].value))
            return true;
    for (size_t i = 0; i < f->exception_count; i++)
        if (compare_text(n, f->exception_classes[i]) ||
            (f->exception_messages[i] && compare_text(n, f->exception_messages[i])))
            return true;
    return (f->type && compare_text(n, f->type)) ||
           (f->service && compare_text(n, f->service));
}

/* Whether the comparison holds for one of the texts, and whether there are any. */
static bool text_holds(const struct node *n, const struct facts *f, bool *exists)
{
    bool holds = false;

    *exists = true;
    if (n->what == TYPE || n->what == SERVICE) {
        const char *word = n->what == TYPE ? f->type : f->service;

        *exists = word != NULL;
        return word && compare_text(n, word);
    }
    if (n->what == ROOT)
        return compare_name(n, f->root);
    if (n->what == TEXT)
        return any_text(n, f);
    if (n->what == METHOD || n->what == CLASS) {
        for (size_t i = 0; i < f->method_count; i++)
            holds |= compare_name(n, n->what == CLASS ? f->classes[i] : f->methods[i]);
        return holds;
    }
    *exists = false;
    if (n->what <= EXCEPTION_MESSAGE) {
        for (size_t i = 0; i < f->exception_count; i++) {
            if (n->what != EXCEPTION_MESSAGE) {
                *exists = true;
                holds |= compare_name(n, f->exception_classes[i]);
            }
            if (n->what != EXCEPTION_CLASS && f->exception_messages[i]) {
                *exists = true;
                holds |= compare_text(n, f->exception_messages[i]);
            }
        }
        return holds;
    }
    for (size_t i = 0; i < f->attribute_count; i++) {
        if (strcmp(f->attributes[i].name, n->name) != 0 ||
            (n->what == ROOT_ATTRIBUTE && !f->attributes[i].is_root))
            continue;
        *exists = true;
        holds |= compare_text(n, f->attributes[i].value);
    }
    return holds;
}

static bool evaluate(const struct node *n, const struct facts *f)
{
    const uint64_t numbers[] = {f->data.duration_ns, f->data.errors, f->data.calls,
                                f->data.records};
    bool exists, holds;

    if (n->what == AND)
        return evaluate(n->left, f) && evaluate(n->right, f);
    if (n->what == OR)
        return evaluate(n->left, f) || evaluate(n->right, f);
    if (n->what == NOT)
        return !evaluate(n->left, f);
    if (n->what < SINCE)
        return compare_number(n, numbers[n->what]);
    if (n->what == SINCE)
        return f->data.time_ns >= n->number;
    if (n->what == ID)
        return f->data.trace_low == n->number;
    holds = text_holds(n, f, &exists);
    if (n->op == EXISTS)
        return exists;
    return n->op == NE || n->op == NOT_MATCHES ? exists && !holds : holds;
}

static struct node *random_leaf(void)
{
    static const char *const values[] = {
        "alice", "bob", "200",  "5",    "Dao", "/a?b=c", "x y",  "7",       "0",
        "a",     "get", "http", "shop", "com", "lo",     "true", "Dao.get", "o"};
    static const char *const names[] = {"user",       "status",     "url",    "note",
                                        "note.inner", "user.inner", "nothing"};
    struct node *n = cn_alloc(1, sizeof(*n));

    n->what = (enum what)cn_random_below(TEXT + 1);
    n->value = PICK(values);
    n->name = PICK(names);
    n->op = (enum op)cn_random_below(n->what < SINCE ? GE + 1 : EXISTS + 1);
    n->number = cn_random_below(12);
    if (n->what == TEXT)
        n->op = CONTAINS;
    if (n->what == DURATION)
        n->number = cn_random_below(200) * 1000000;
    if (n->what == SINCE)
        n->number = cn_random_begin_ns + cn_random_below(TRACES) * 1000000000;
    if (n->what == ID)
        n->number = 1 + cn_random_below(TRACES);
    return n;
}

static struct node *random_tree(unsigned depth)
{
    struct node *n;

    if (depth == 0 || cn_random_below(3) == 0)
        return random_leaf();
    n = cn_alloc(1, sizeof(*n));
    n->what = (enum what)(AND + cn_random_below(3));
    n->left = random_tree(depth - 1);
    n->right = n->what == NOT ? NULL : random_tree(depth - 1);
    return n;
}

static void free_tree(struct node *n)
{
    if (!n)
        return;
    free_tree(n->left);
    free_tree(n->right);
    free(n);
}

static void write_leaf(const struct node *n, struct cn_text *out)
{
    static const char *const names[] = {"duration",
                                        "errors",
                                        "calls",
                                        "records",
                                        "since",
                                        "id",
                                        "type",
                                        "service",
                                        "root",
                                        "method",
                                        "class",
                                        "exception",
                                        "exception.class",
                                        "exception.message"};
    uint64_t seconds = (n->number - cn_random_begin_ns) / 1000000000;

    if (n->what == SINCE)
        cn_text_printf(out, "since 2026-01-01T%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64,
                       seconds / 3600, seconds / 60 % 60, seconds % 60);
    else if (n->what == ID)
        cn_text_printf(out, "id = %016" PRIx64 "%016" PRIx64,
                       (n->number - 1) * UINT64_C(0x9e3779b97f4a7c15) + 1, n->number);
    else if (n->what == DURATION)
        cn_text_printf(out, "duration %s %" PRIu64 "ms", op_names[n->op],
                       n->number / 1000000);
    else if (n->what < TYPE)
        cn_text_printf(out, "%s %s %" PRIu64, names[n->what], op_names[n->op], n->number);
    else if (n->what == TEXT)
        cn_text_printf(out, "\"%s\"", n->value);
    else {
        cn_text_printf(out, "%s%s %s", n->what == ROOT_ATTRIBUTE ? "root." : "",
                       n->what >= ATTRIBUTE ? n->name : names[n->what], op_names[n->op]);
        if (n->op == MATCHES || n->op == NOT_MATCHES) {
            cn_text_str_add(out, " \"");
            for (const char *c = n->value; *c; c++)
                cn_text_printf(out, strchr(".?/", *c) ? "[%c]" : "%c", *c);
            cn_text_char(out, '"');
        } else if (n->op != EXISTS) {
            cn_text_printf(out, " \"%s\"", n->value);
        }
    }
}

static void write_tree(const struct node *n, struct cn_text *out)
{
    if (n->what < AND) {
        write_leaf(n, out);
        return;
    }
    cn_text_str_add(out, n->what == NOT ? "not (" : "(");
    write_tree(n->left, out);
    if (n->what != NOT) {
        cn_text_str_add(out, n->what == OR ? " or " : cn_random_below(2) ? " and " : " ");
        write_tree(n->right, out);
    }
    cn_text_char(out, ')');
}

/* Newest first; of two at the same time the one that came later. */
static int by_time(const void *a, const void *b)
{
    const struct facts *x = *(const struct facts *const *)a;
    const struct facts *y = *(const struct facts *const *)b;

    if (x->data.time_ns != y->data.time_ns)
        return x->data.time_ns > y->data.time_ns ? -1 : 1;
    if (x->segment != y->segment)
        return x->segment > y->segment ? -1 : 1;
    return x->row > y->row ? -1 : 1;
}

static int by_duration(const void *a, const void *b)
{
    const struct facts *x = *(const struct facts *const *)a;
    const struct facts *y = *(const struct facts *const *)b;

    if (x->data.duration_ns != y->data.duration_ns)
        return x->data.duration_ns < y->data.duration_ns ? -1 : 1;
    return -by_time(a, b);
}

static void assert_hits(const char *text, const struct cn_query *query,
                        const struct cn_search_order *order,
                        const struct facts *const *expected, size_t count)
{
    struct cn_search_hits hits;
    struct cn_error err = {0};
    size_t shown = count > order->offset ? count - (size_t)order->offset : 0;

    shown = shown > order->limit ? (size_t)order->limit : shown;
    if (!cn_search_rows(search, query, order, &hits, &err))
        fail_msg("%s: %s", text, err.text);
    if (hits.count != shown)
        fail_msg("%s: %zu hits instead of %zu", text, hits.count, shown);
    for (size_t i = 0; i < shown; i++) {
        const struct facts *f = expected[i + (size_t)order->offset];

        if (hits.list[i].segment != f->segment || hits.list[i].row != f->row)
            fail_msg("%s: hit %zu is row %u", text, i, hits.list[i].row);
    }
    cn_search_hits_done(&hits);
}

static void check_query(const struct node *tree, const char *text)
{
    static const struct facts *expected[TRACES];
    struct cn_search_order all = {.limit = UINT64_MAX};
    struct cn_search_order page = {.limit = 1 + cn_random_below(20),
                                   .offset = cn_random_below(10)};
    struct cn_search_order shortest = {.sort = CN_SEARCH_BY_DURATION,
                                       .is_reversed = true,
                                       .limit = 1 + cn_random_below(30)};
    struct cn_error err = {0};
    struct cn_query *query;
    uint64_t number;
    size_t count = 0;

    if (!cn_query_parse(&query, text, cn_random_begin_ns, &err))
        fail_msg("%s: %s", text, err.text);
    for (size_t i = 0; i < fact_count; i++) {
        if (evaluate(tree, &facts[i]))
            expected[count++] = &facts[i];
    }
    assert_true(cn_search_count(search, query, &number, &err));
    if (number != count)
        fail_msg("%s: %" PRIu64 " match instead of %zu", text, number, count);
    qsort(expected, count, sizeof(*expected), by_time);
    assert_hits(text, query, &all, expected, count);
    assert_hits(text, query, &page, expected, count);
    qsort(expected, count, sizeof(*expected), by_duration);
    assert_hits(text, query, &shortest, expected, count);
    cn_query_free(query);
}

static void a_thousand_queries_find_what_a_look_at_every_trace_finds(void **state)
{
    (void)state;
    for (size_t i = 0; i < QUERIES; i++) {
        struct node *tree = random_tree(3);
        struct cn_text text = {0};

        write_tree(tree, &text);
        check_query(tree, cn_text_str(&text));
        cn_text_done(&text);
        free_tree(tree);
    }
}

static const struct cn_group *find_group(const struct cn_groups *groups,
                                         const char *value)
{
    for (size_t i = 0; i < groups->count; i++) {
        struct cn_bytes bytes = cn_word_bytes(&groups->values, groups->list[i].value);

        if (bytes.len == strlen(value) && memcmp(bytes.ptr, value, bytes.len) == 0)
            return &groups->list[i];
    }
    return NULL;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void groups_count_each_row_once_and_know_its_durations(void **state)
{
    struct cn_error err = {0};
    struct cn_query *query;
    struct cn_groups groups;
    size_t found = 0;

    (void)state;
    assert_true(cn_query_parse(&query, "duration > 20ms", 0, &err));
    assert_true(cn_search_group(search, query, "user", &groups, &err));
    for (size_t t = 0; t < CN_RANDOM_TEXTS; t++) {
        const struct cn_group *group = find_group(&groups, cn_random_texts[t]);
        uint64_t durations[TRACES], errors = 0;
        size_t count = 0;

        for (size_t i = 0; i < fact_count; i++) {
            bool has = false;

            for (size_t a = 0; a < facts[i].attribute_count; a++)
                has |= strcmp(facts[i].attributes[a].name, "user") == 0 &&
                       strcmp(facts[i].attributes[a].value, cn_random_texts[t]) == 0;
            if (!has || facts[i].data.duration_ns <= 20000000)
                continue;
            durations[count++] = facts[i].data.duration_ns;
            errors += facts[i].data.errors > 0;
        }
        assert_true((count > 0) == (group != NULL));
        if (!group)
            continue;
        found++;
        qsort(durations, count, sizeof(*durations), compare_u64);
        assert_int_equal(group->count, count);
        assert_int_equal(group->error_count, errors);
        assert_int_equal(group->p50_ns, durations[(count * 50 + 99) / 100 - 1]);
        assert_int_equal(group->p99_ns, durations[(count * 99 + 99) / 100 - 1]);
        assert_int_equal(group->max_ns, durations[count - 1]);
    }
    assert_true(found > 5);
    cn_groups_done(&groups);
    assert_true(cn_search_group(search, query, "service", &groups, &err));
    assert_int_equal(groups.count, 2);
    cn_groups_done(&groups);
    assert_false(cn_search_group(search, query, "duration", &groups, &err));
    cn_query_free(query);
}

static void a_histogram_counts_every_row(void **state)
{
    struct cn_search_time_step steps[7] = {0};
    struct cn_error err = {0};
    struct cn_query *query;
    uint64_t first, last, sum = 0, errors = 0, expected_errors = 0;

    (void)state;
    assert_true(cn_query_parse(&query, "", 0, &err));
    assert_true(cn_search_time_range(search, query, &first, &last, &err));
    assert_true(cn_search_histogram(search, query, first, (last - first) / 7 + 1, 7,
                                    steps, &err));
    for (size_t i = 0; i < 7; i++) {
        sum += steps[i].count;
        errors += steps[i].error_count;
    }
    for (size_t i = 0; i < fact_count; i++)
        expected_errors += facts[i].data.errors > 0;
    assert_int_equal(sum, TRACES);
    assert_int_equal(errors, expected_errors);
    cn_query_free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_queries_find_what_a_look_at_every_trace_finds),
        cmocka_unit_test(groups_count_each_row_once_and_know_its_durations),
        cmocka_unit_test(a_histogram_counts_every_row),
    };

    return cmocka_run_group_tests(tests, make_store, drop_store);
}
