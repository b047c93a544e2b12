/* Stores of the original implementation, compared with a dump of them that does not come from here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/traces/trace.h"
#include "store/maintenance/maintenance.h"
#include "store/segment/reader.h"
#include "store/write/java_import.h"
#include "support/data.h"
#include "support/made_traces.h"
#include "support/scratch.h"

static void print_value(const struct cn_trace *trace, const struct cn_trace_value *value,
                        struct cn_text *out)
{
    if (value->kind == CN_VALUE_WORD) {
        cn_text_char(out, '"');
        cn_words_print(trace->words, value->word, out);
        cn_text_printf(out, "\" #%u", value->word);
    } else
        cn_trace_value_print(trace, value, out);
}

struct named {
    char name[200];
    uint32_t attribute;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* In the order of their names. */
static void print_attributes(const struct cn_trace *trace, uint32_t node, size_t indent,
                             struct cn_text *out)
{
    struct named list[64];
    size_t count = 0;

    for (uint32_t a = trace->nodes[node].first_attribute; a != CN_NONE && count < 64;
         a = trace->attributes[a].next) {
        struct cn_text name = {0};

        cn_words_print(trace->words, trace->attributes[a].key, &name);
        (void)snprintf(list[count].name, sizeof(list[count].name), "%s",
                       cn_text_str(&name));
        list[count++].attribute = a;
        cn_text_done(&name);
    }
    qsort(list, count, sizeof(list[0]), by_name);
    for (size_t i = 0; i < count; i++) {
        cn_text_fill(out, ' ', indent);
        cn_text_printf(out, "A %s = ", list[i].name);
        print_value(trace, &trace->attributes[list[i].attribute].value, out);
        cn_text_char(out, '\n');
    }
}

static void print_exception(const struct cn_trace *trace, uint32_t node, size_t indent,
                            struct cn_text *out)
{
    const struct cn_words *words = trace->words;
    uint32_t id = trace->nodes[node].exception, stack = cn_word_part(words, id, 2);

    if (id == 0)
        return;
    cn_text_fill(out, ' ', indent);
    cn_text_printf(out, "E #%u ", id);
    cn_words_print(words, id, out);
    cn_text_char(out, '\n');
    for (size_t i = 0; i < cn_word_part_count(words, stack); i++) {
        cn_text_fill(out, ' ', indent + 2);
        cn_text_str_add(out, "at ");
        cn_words_print(words, cn_word_part(words, stack, i), out);
        cn_text_char(out, '\n');
    }
}

static void print_node(const struct cn_trace *trace, uint32_t i, size_t indent,
                       bool has_ids, struct cn_text *out)
{
    const struct cn_trace_node *node = &trace->nodes[i];
    uint64_t start = (trace->clock_ns + node->start_ns) >> 16;
    uint64_t ticks = node->duration_ns >> 16;

    cn_text_fill(out, ' ', indent);
    cn_text_printf(out, "@%u [%llu..%llu] dur=%llu calls=%llu mid=%u ", node->data_off,
                   (unsigned long long)start, (unsigned long long)(start + ticks),
                   (unsigned long long)ticks, (unsigned long long)node->calls,
                   node->method);
    cn_words_print(trace->words, node->method, out);
    if (node->span != CN_NONE && has_ids) {
        const struct cn_trace_span *span = &trace->spans[node->span];

        cn_text_printf(out, " BEGIN tstamp=%llu span=%016llx parent=%016llx",
                       (unsigned long long)(span->time_ns / 1000000),
                       (unsigned long long)span->id, (unsigned long long)span->parent_id);
    }
    cn_text_char(out, '\n');
    print_attributes(trace, i, indent + 2, out);
    print_exception(trace, i, indent + 2, out);
}

struct printed {
    uint64_t data_off;
    uint32_t start_off;
    uint64_t id_high, id_low;
    uint32_t records, errors;
    char *text;
};

struct all {
    struct printed *list;
    size_t count, capacity;
    bool has_ids;
};

static void print_span(struct all *all, const struct cn_trace *trace, uint32_t first,
                       uint64_t data_off)
{
    struct cn_text text = {0};

    for (uint32_t i = first; i < trace->nodes[first].end; i++) {
        size_t depth = 1;

        for (uint32_t p = i; p != first; p = trace->nodes[p].parent)
            depth++;
        print_node(trace, i, 2 * depth, all->has_ids, &text);
    }
    all->list = cn_grow(all->list, all->count, &all->capacity, sizeof(*all->list));
    all->list[all->count++] = (struct printed){
        .data_off = data_off,
        .start_off = trace->nodes[first].data_off,
        .id_high = trace->id_high,
        .id_low = trace->id_low,
        .records = trace->nodes[first].end - first,
        .errors = trace->nodes[first].errors,
        .text = text.chars,
    };
}

static bool visit(void *arg, const struct cn_trace *trace, uint64_t data_off,
                  struct cn_error *err)
{
    struct all *all = arg;

    (void)err;
    print_span(all, trace, 0, data_off);
    for (uint32_t i = 0; i < trace->span_count; i++)
        if (trace->spans[i].node != 0)
            print_span(all, trace, trace->spans[i].node, data_off);
    return true;
}

/* "flags=0x8 " of records goes: an exception and a flag are one here. */
static void take_out_flags(char *line)
{
    char *flags = strstr(line, "flags=0x");
    char *mid = flags ? strstr(flags, "mid=") : NULL;

    if (strchr(line, '@') && mid)
        memmove(flags, mid, strlen(mid) + 1);
}

static const struct printed *find_printed(const struct all *all, const char *head)
{
    const char *data = strstr(head, "dataOffs="), *start = strstr(head, "startOffs=");
    uint64_t data_off = data ? strtoull(data + 9, NULL, 10) : 0;
    uint64_t start_off = start ? strtoull(start + 10, NULL, 10) : 0;

    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].data_off == data_off && all->list[i].start_off == start_off)
            return &all->list[i];
    return NULL;
}

static void check_head(const struct all *all, const struct printed *printed,
                       const char *head)
{
    char id[40];

    if (all->has_ids)
        return; /* they are in a database that is not read, which counts some twice */
    assert_int_equal(printed->records, strtoul(strstr(head, "recs=") + 5, NULL, 10));
    (void)snprintf(id, sizeof(id), "%08llx-%04llx-%04llx-%04llx-%012llx",
                   (unsigned long long)(printed->id_high >> 32),
                   (unsigned long long)(printed->id_high >> 16 & 0xffff),
                   (unsigned long long)(printed->id_high & 0xffff),
                   (unsigned long long)(printed->id_low >> 48),
                   (unsigned long long)(printed->id_low & 0xffffffffffff));
    assert_memory_equal(head + 6, id, strlen(id));
}

static void compare(const struct all *all, const char *dump_path)
{
    FILE *dump = fopen(dump_path, "r");
    const struct printed *printed = NULL;
    const char *expected = NULL;
    char *line = NULL;
    size_t room = 0, traces = 0;

    assert_non_null(dump);
    while (getline(&line, &room, dump) > 0) {
        if (strncmp(line, "TRACE ", 6) == 0) {
            if (expected)
                assert_string_equal(expected, "");
            printed = find_printed(all, line);
            if (!printed)
                fail_msg("not found: %s", line);
            check_head(all, printed, line);
            expected = printed->text;
            traces++;
        } else if (strncmp(line, "  attrs=", 8) != 0) {
            size_t len = strcspn(expected, "\n") + 1;

            take_out_flags(line);
            if (strncmp(line, expected, len) != 0 || strlen(line) != len)
                fail_msg("the dump has %.300s here it is %.300s", line, expected);
            expected += len;
        }
    }
    assert_string_equal(expected, "");
    /* A nested span that was also sent on its own is in the data twice. */
    assert_true(all->has_ids ? traces <= all->count : traces == all->count);
    free(line);
    (void)fclose(dump);
}

static void check_store(const char *name, bool has_ids)
{
    struct all all = {.has_ids = has_ids};
    struct cn_java_import_counts counts;
    struct cn_error err = {0};
    char dump_name[100];
    char *path, *dump;

    (void)snprintf(dump_name, sizeof(dump_name), "%s.dump.txt", name);
    path = cn_test_data(name);
    dump = cn_test_data(dump_name);
    assert_true(cn_java_store_probe(path));
    if (!cn_java_store_walk(path, visit, &all, &counts, &err))
        fail_msg("%s", err.text);
    assert_int_equal(counts.bad_chunks + counts.bad_files, 0);
    compare(&all, dump);
    for (size_t i = 0; i < all.count; i++)
        free(all.list[i].text);
    free(all.list);
    free(path);
    free(dump);
}

static void reads_the_last_release(void **state)
{
    (void)state;
    check_store("zorka/store-1906-synth-archived", false);
}

static void reads_the_last_source(void **state)
{
    (void)state;
    check_store("zorka/store-head-agent-local", true);
}

/* Import, and look whether every trace came out as it went in. */
struct comparison {
    struct cn_store *store;
    uint32_t row;
    struct cn_segment_loader *loader;
    struct cn_trace trace;
};

static bool same(void *arg, const struct cn_trace *expected, uint64_t data_off,
                 struct cn_error *err)
{
    struct comparison *c = arg;
    const struct cn_segment *segment = cn_store_segment(c->store, 0);
    struct cn_store_row row;

    (void)data_off;
    do {
        if (!cn_segment_row(segment, c->row, &row, err))
            return false;
        c->row++;
    } while (row.flags & CN_ROW_EMBEDDED);
    return cn_segment_load(c->loader, segment, c->row - 1, &c->trace, err) &&
           cn_same_trace(&c->trace, expected, err);
}

/* The independent reader of such stores, where it lies beside real data, finds as many
 * traces and calls, and every word that they speak of. */
static void check_by_other_reader(const char *folder, uint64_t traces, uint64_t records)
{
    char *script = cn_test_real_file("../checks/zts_read.py");
    unsigned long long found_traces = 0, found_records = 0;
    struct cn_text command = {0};
    char line[4096];
    FILE *out;

    if (!script)
        return;
    cn_text_printf(&command, "python3 '%s' '%s' -v", script, folder);
    out = popen(cn_text_str(&command), "r");
    assert_non_null(out);
    while (fgets(line, sizeof(line), out)) {
        if (strstr(line, "METHOD=?") || strstr(line, "attr ?"))
            fail_msg("a word is missing: %s", line);
        (void)sscanf(line, " chunks %llu records %llu", &found_traces, &found_records);
    }
    assert_int_equal(pclose(out), 0);
    assert_int_equal(found_traces, traces);
    assert_int_equal(found_records, records);
    cn_text_done(&command);
    free(script);
}

static void imports_what_it_reads(void **state)
{
    static const char *const names[] = {"zorka/store-1906-synth-archived",
                                        "zorka/store-head-agent-local"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct cn_store_options options = {.dialect =
                                               i / 2 ? CN_STORE_JAVA : CN_STORE_SPEC};
        char *path = cn_test_data(names[i % 2]);
        struct comparison c = {0};
        struct cn_java_import_counts counts;
        struct cn_store_writer *writer;
        struct cn_error err = {0};

        c.loader = cn_segment_loader_new();
        assert_true(cn_store_init("store", &options, &err));
        assert_true(cn_store_writer_open(&writer, "store", NULL, &err));
        if (!cn_java_store_import(writer, path, &counts, &err))
            fail_msg("%s", err.text);
        assert_true(cn_store_writer_close(writer, &err));
        assert_true(counts.added.traces + counts.added.parts > 10);
        if (options.dialect == CN_STORE_JAVA)
            check_by_other_reader("store/000000",
                                  counts.added.traces + counts.added.parts,
                                  counts.added.records);
        assert_true(cn_store_open(&c.store, "store", &err));
        if (!cn_java_store_walk(path, same, &c, &counts, &err))
            fail_msg("%s: %s", names[i % 2], err.text);
        cn_store_close(c.store);
        cn_trace_done(&c.trace);
        cn_segment_loader_free(c.loader);
        free(path);
        cn_scratch_remove("store");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_last_release),
        cmocka_unit_test(reads_the_last_source),
        CN_SCRATCH_TEST(imports_what_it_reads),
    };

    return CN_TEST_ON_DATA(tests);
}
