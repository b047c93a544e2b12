#include "support/http2.h"

#include <string.h>

enum { DATA = 0, HEADERS = 1, RST_STREAM = 3, SETTINGS = 4, PING = 6, CONTINUATION = 9 };
enum { END_STREAM = 1, END_HEADERS = 4 };

static const char export_path[] =
    "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

void cn_test_frame(struct cn_text *out, unsigned type, unsigned flags, uint32_t stream,
                   const char *payload, size_t len)
{
    const char head[] = {
        (char)(len >> 16),    (char)(len >> 8),    (char)len,
        (char)type,           (char)flags,         (char)(stream >> 24),
        (char)(stream >> 16), (char)(stream >> 8), (char)stream,
    };

    cn_text_add(out, head, sizeof(head));
    cn_text_add(out, payload, len);
}

static void add_header(struct cn_text *out, const char *name, const char *value)
{
    cn_text_char(out, 0);
    cn_text_char(out, (char)strlen(name));
    cn_text_str_add(out, name);
    cn_text_char(out, (char)strlen(value));
    cn_text_str_add(out, value);
}

void cn_test_head(struct cn_text *out, const char *path, const char *name,
                  const char *value)
{
    add_header(out, ":method", "POST");
    add_header(out, ":scheme", "http");
    add_header(out, ":path", path ? path : export_path);
    add_header(out, ":authority", "localhost");
    add_header(out, "content-type", "application/grpc");
    if (name)
        add_header(out, name, value);
}

static void add_call(struct cn_text *out, uint32_t stream, const char *path,
                     const char *name, const char *value)
{
    struct cn_text head = {0};

    cn_test_head(&head, path, name, value);
    cn_test_frame(out, HEADERS, END_HEADERS, stream, head.chars, head.len);
    cn_test_frame(out, DATA, 0, stream, "\0\0\0\0\x04\x0a", 6);
    cn_test_frame(out, DATA, END_STREAM, stream, "\x02\x12\0", 3);
    cn_text_done(&head);
}

void cn_test_http2(struct cn_text *out, unsigned kind)
{
    struct cn_text head = {0};

    cn_text_str_add(out, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    cn_test_frame(out, SETTINGS, 0, 0, "\0\4\0\1\0\0", 6);
    switch (kind) {
    case 0: /* calls side by side */
        add_call(out, 1, NULL, NULL, NULL);
        add_call(out, 3, NULL, "grpc-encoding", "gzip");
        add_call(out, 5, "/grpc.health.v1.Health/Check", NULL, NULL);
        break;
    case 1:
        add_call(out, 1, "/x.Y/Z", NULL, NULL);
        cn_test_frame(out, PING, 0, 0, "12345678", 8);
        break;
    case 2: /* headers in two frames, and trailers */
        cn_test_head(&head, NULL, "grpc-timeout", "10S");
        cn_test_frame(out, HEADERS, 0, 1, head.chars, head.len / 2);
        cn_test_frame(out, CONTINUATION, END_HEADERS, 1, head.chars + head.len / 2,
                      head.len - head.len / 2);
        cn_test_frame(out, DATA, 0, 1, "\0\0\0\0\0", 5);
        cn_test_frame(out, HEADERS, END_HEADERS | END_STREAM, 1, "\0\1a\1b", 5);
        break;
    case 3: /* reset, before and after its message */
        add_call(out, 1, NULL, NULL, NULL);
        cn_test_frame(out, RST_STREAM, 0, 1, "\0\0\0\x08", 4);
        cn_test_head(&head, NULL, NULL, NULL);
        cn_test_frame(out, HEADERS, END_HEADERS, 3, head.chars, head.len);
        cn_test_frame(out, RST_STREAM, 0, 3, "\0\0\0\x08", 4);
        break;
    case 4:
        add_call(out, 1, NULL, "grpc-timeout", "1n");
        break;
    default: /* a header that is remembered, and used again */
        cn_test_head(&head, NULL, NULL, NULL);
        cn_text_add(&head, "\x40\1x\4yyyy\xbe\xbe", 10);
        cn_test_frame(out, HEADERS, END_HEADERS | END_STREAM, 1, head.chars, head.len);
        break;
    }
    cn_text_done(&head);
}
