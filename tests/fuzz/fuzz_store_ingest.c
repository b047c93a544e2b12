/* Any bytes as requests that bring traces, into a store: what it takes is committed, read, sealed
 * and searched without a complaint, and no rule of the store is broken. */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/disk.h"
#include "formats/exchange/read/traces/span_set.h"
#include "model/traces/trace.h"
#include "store/maintenance/maintenance.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/write/ingest.h"
#include "support/exchange_inputs.h"
#include "support/fuzz.h"
#include "support/scratch.h"

static bool do_not_sync(void *arg, int fd, struct cn_error *err)
{
    (void)arg;
    (void)fd;
    (void)err;
    return true;
}

static bool do_not_sync_dir(void *arg, const char *path, struct cn_error *err)
{
    (void)arg;
    (void)path;
    (void)err;
    return true;
}

static void must(bool ok, const struct cn_error *err)
{
    if (ok)
        return;
    (void)fprintf(stderr, "%s\n", err->text);
    abort();
}

static void give(struct cn_store_ingest *ingest, struct cn_bytes bytes)
{
    struct cn_zorka_request request = {.body = bytes};
    struct cn_error err = {0};

    if (cn_span_set_probe(bytes) != CN_SPANS_NONE) {
        uint64_t rejected;

        (void)!cn_store_ingest_spans(ingest, bytes, &rejected, &err);
        return;
    }
    if (!cn_zorka_request_probe(bytes)) {
        (void)!cn_store_ingest_request(ingest, &request, &err);
        return;
    }
    while (cn_zorka_request_next(&bytes, &request, &err) == CN_ITEM)
        (void)!cn_store_ingest_request(ingest, &request, &err);
}

static uint64_t fill(const struct cn_store_options *options, struct cn_bytes bytes)
{
    struct cn_store_ingest_counts counts;
    struct cn_store_ingest *ingest;
    struct cn_store_writer *writer;
    struct cn_error err = {0};

    must(cn_store_init("store", options, &err), &err);
    must(cn_store_writer_open(&writer, "store", options, &err), &err);
    ingest = cn_store_ingest_new(writer);
    give(ingest, bytes);
    give(ingest, bytes); /* it is known already, or goes on */
    counts = cn_store_ingest_counts(ingest);
    cn_store_ingest_free(ingest);
    must(cn_store_writer_close(writer, &err), &err);
    return counts.added.traces + counts.added.parts;
}

static void load_all(const struct cn_store *store)
{
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_trace trace = {0};
    struct cn_error err = {0};

    for (size_t i = 0; i < cn_store_segment_count(store); i++) {
        const struct cn_segment *segment = cn_store_segment(store, i);

        assert(!cn_segment_is_damaged(segment));
        for (uint32_t row = 0; row < cn_segment_row_count(segment) && row < 20; row++)
            must(cn_segment_load(loader, segment, row, &trace, &err), &err);
    }
    cn_trace_done(&trace);
    cn_segment_loader_free(loader);
}

static uint64_t search(const struct cn_store *store, const char *text)
{
    struct cn_search *search = NULL;
    struct cn_query *query;
    struct cn_error err = {0};
    uint64_t count = 0;

    must(cn_query_parse(&query, text, 0, &err), &err);
    must(cn_search_open(&search, store, &err), &err);
    must(cn_search_count(search, query, &count, &err), &err);
    cn_search_close(search);
    cn_query_free(query);
    return count;
}

enum { QUERIES = 4 };

static void look(uint64_t found[static QUERIES])
{
    static const char *const queries[QUERIES] = {"", "method contains m", "errors",
                                                 "x or service exists"};
    struct cn_error err = {0};
    struct cn_store *store;

    must(cn_store_open(&store, "store", &err), &err);
    load_all(store);
    for (size_t i = 0; i < QUERIES; i++)
        found[i] = search(store, queries[i]);
    cn_store_close(store);
}

static void complain(void *arg, const struct cn_finding *finding)
{
    (void)arg;
    (void)fprintf(stderr, "%s: %s: %s\n", finding->file, finding->rule, finding->text);
    assert(!finding->is_error);
}

static void use(enum cn_store_dialect dialect, struct cn_bytes bytes)
{
    struct cn_disk disk = cn_disk_files;
    struct cn_store_options options = {.dialect = dialect, .io = &disk};
    uint64_t before[QUERIES], after[QUERIES];
    struct cn_error err = {0};
    uint32_t sealed;

    disk.sync = do_not_sync;
    disk.sync_dir = do_not_sync_dir;
    if (fill(&options, bytes) == 0)
        return;
    look(before);
    must(cn_store_seal("store", &sealed, &err), &err);
    look(after);
    assert(memcmp(before, after, sizeof(before)) == 0);
    must(cn_store_verify("store", NULL, complain, NULL, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes bytes = {data, len};

    for (enum cn_store_dialect dialect = CN_STORE_SPEC; dialect <= CN_STORE_JAVA;
         dialect++) {
        struct cn_scratch *scratch = cn_scratch_enter();

        use(dialect, bytes);
        cn_scratch_leave(scratch);
    }
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char *const seeds[] = {
        "\xc1\x82\x01\x61x\xc2\x84\x01\x01\x01\x01\xc3\x9f\x0a\x01\xc5\x83\x01\x01\x07"
        "\xc6\x82\x01\x82\x01\xa1\x61k\x61v\xc7\x85\x01\x01\x61m\x20\x81\x84\x01\x01\x01"
        "\x05\xc8\x01\xc3\x9f\x0b\x01\xc4\x82\x0d\x01\xff\xc4\x83\x0e\x02\x19\x21\x08"
        "\xff",
        "\xc1\x83\x01\x61x\x05\xc2\x84\x01\x01\x01\x01\xc8\x9f\xca\x48zz\x01zzzzz"
        "\xd8\x21\x83\x0a\x07\x08\xc9\xa1\xc6\x01\x62hi\xcf\x08\xce\xa1\x09\x05"
        "\xd8\x22\x85\x01\xc6\x01\xf6\x20\x80\xd8\x23\x01\xcc\x48zzz\x02zzzz\xff",
        "POST /agent/submit/trc HTTP/1.1\r\nX-Zorka-Session-Id: 1\r\n"
        "X-Zorka-Trace-Id: 00112233445566778899aabbccddeeff\r\nContent-Length: 19\r\n\r\n"
        "\xc1\x82\x01\x61x\xc2\x84\x01\x01\x01\x01\xc3\x9f\x0a\x01\xc4\x82\x0d\x01\xff",
    };
    size_t len;
    uint8_t *bytes = cn_test_otlp(&len);

    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
        emit((const uint8_t *)seeds[i], strlen(seeds[i]));
    emit(bytes, len);
    free(bytes);
    emit((const uint8_t *)cn_test_zipkin, strlen(cn_test_zipkin));
    emit((const uint8_t *)cn_test_otlp_json, strlen(cn_test_otlp_json));
}
