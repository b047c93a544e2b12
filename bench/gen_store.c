/* The requests of many agents as files, to be added to a trace store:
 *     bench_gen_store DIR TRACES [SEED [CALLS]]
 *
 * CALLS is the most that a trace has; without it they have 50 to 500.
 *
 * A file (DIR/00000.http, ...) is a sequence of HTTP requests as agents send them: a head, an
 * empty line, a body. Prints the number of traces, records and bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/files/out.h"
#include "support/requests.h"

enum { TRACES_OF_FILE = 10000 };

static bool write_request(struct cn_out *out, const char *what, const char *headers,
                          const struct cn_text *body, struct cn_error *err)
{
    struct cn_text head = {0};
    bool ok;

    cn_text_printf(&head,
                   "POST /agent/submit/%s HTTP/1.1\r\n"
                   "Content-Type: application/zorka+cbor+v1\r\n"
                   "%sContent-Length: %zu\r\n\r\n",
                   what, headers, body->len);
    ok = cn_out_write(out, cn_text_str(&head), head.len, err) &&
         cn_out_write(out, cn_text_str(body), body->len, err);
    cn_text_done(&head);
    return ok;
}

static bool write_trace(struct cn_out *out, struct cn_requests *requests,
                        struct cn_error *err)
{
    static const char session[] = "X-Zorka-Session-Id: 1952c15e9d8e0332\r\n";
    bool is_first = requests->number == 0;
    char headers[200];

    cn_requests_next(requests);
    (void)snprintf(headers, sizeof(headers), "%sX-Zorka-Session-Reset: %s\r\n", session,
                   is_first ? "true" : "false");
    if (requests->symbols.len > 0 &&
        !write_request(out, "agd", headers, &requests->symbols, err))
        return false;
    (void)snprintf(headers, sizeof(headers),
                   "%sX-Zorka-Trace-Id: %016" PRIx64 "%016" PRIx64 "\r\n", session,
                   requests->trace_id[0], requests->trace_id[1]);
    return write_request(out, "trc", headers, &requests->trace, err);
}

static bool write_file(const char *dir, struct cn_requests *requests, uint64_t count,
                       uint64_t *written, struct cn_error *err)
{
    struct cn_out out = {0};
    char name[32];
    bool ok;

    (void)snprintf(name, sizeof(name), "%05" PRIu64 ".http",
                   requests->number / TRACES_OF_FILE);
    ok = cn_out_open_at(&out, dir, name, err);
    for (uint64_t i = 0; ok && i < count; i++)
        ok = write_trace(&out, requests, err);
    *written += out.end_off;
    ok = ok && cn_out_close(&out, err);
    cn_out_abandon(&out);
    return ok;
}

int main(int argc, char **argv)
{
    struct cn_requests requests;
    struct cn_error err = {0};
    uint64_t count, written = 0;
    bool ok = true;

    if (argc < 3 || argc > 5) {
        (void)fprintf(stderr, "usage: bench_gen_store DIR TRACES [SEED [CALLS]]\n");
        return 2;
    }
    count = strtoull(argv[2], NULL, 10);
    cn_requests_init(&requests, argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
    requests.calls_max = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
    (void)mkdir(argv[1], 0777);
    while (ok && requests.number < count) {
        uint64_t rest = count - requests.number;

        ok = write_file(argv[1], &requests, rest < TRACES_OF_FILE ? rest : TRACES_OF_FILE,
                        &written, &err);
    }
    if (ok)
        printf("traces %" PRIu64 "\nrecords %" PRIu64 "\nbytes %" PRIu64 "\n",
               requests.number, requests.records, written);
    else
        (void)fprintf(stderr, "bench_gen_store: %s\n", err.text);
    cn_requests_done(&requests);
    return ok ? 0 : 1;
}
