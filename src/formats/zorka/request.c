#include "formats/zorka/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bytes/digits.h"

enum { HEAD_MAX = 16384, ID_DIGITS = 32 };

static const char blank_line[] = "\r\n\r\n";

bool cn_zorka_request_probe(struct cn_bytes bytes)
{
    return bytes.len > 5 && memcmp(bytes.ptr, "POST ", 5) == 0;
}

/* 32 digits, or the 36 characters of a UUID. */
static bool parse_trace_id(const char *text, struct cn_zorka_request *out)
{
    char digits[ID_DIGITS + 1];
    size_t count = 0;
    char half[17];

    for (size_t i = 0; text[i] && count < ID_DIGITS; i++)
        if (text[i] != '-')
            digits[count++] = text[i];
    digits[count] = '\0';
    if (count != ID_DIGITS || !cn_hex_is(digits, ID_DIGITS))
        return false;
    memcpy(half, digits, 16);
    half[16] = '\0';
    out->id_high = strtoull(half, NULL, 16);
    out->id_low = strtoull(digits + 16, NULL, 16);
    return true;
}

void cn_zorka_request_set(struct cn_zorka_request *request, const char *name,
                          const char *value)
{
    if (strcasecmp(name, "X-Zorka-Session-Id") == 0 ||
        strcasecmp(name, "X-Zorka-Session-UUID") == 0)
        (void)snprintf(request->session, sizeof(request->session), "%s", value);
    else if (strcasecmp(name, "X-Zorka-Session-Reset") == 0)
        request->is_reset = strcasecmp(value, "true") == 0;
    else if (strcasecmp(name, "X-Zorka-Trace-Id") == 0 ||
             strcasecmp(name, "X-Zorka-Trace-UUID") == 0)
        request->has_trace_id = parse_trace_id(value, request);
}

/* "Name: value", which ends with a NUL. */
static void read_line(char *line, struct cn_zorka_request *out, uint64_t *content_len)
{
    char *colon = strchr(line, ':');

    if (!colon)
        return;
    *colon = '\0';
    const char *value = colon + 1 + strspn(colon + 1, " ");
    if (strcasecmp(line, "Content-Length") == 0)
        *content_len = strtoull(value, NULL, 10);
    else
        cn_zorka_request_set(out, line, value);
}

void cn_zorka_request_head(struct cn_bytes head, struct cn_zorka_request *out,
                           uint64_t *content_len)
{
    char text[HEAD_MAX + 1], *line = text;
    size_t len = head.len < HEAD_MAX ? head.len : HEAD_MAX;

    if (len > 0)
        memcpy(text, head.ptr, len);
    text[len] = '\0';
    *content_len = 0;
    out->is_agent = strncmp(text, "POST /", 6) == 0 && strstr(text, "/agent/") &&
                    strstr(text, "/agent/") < text + strcspn(text, "\r\n");
    while (*line) {
        size_t line_len = strcspn(line, "\r\n");
        char *next = line + line_len + strspn(line + line_len, "\r\n");

        line[line_len] = '\0';
        read_line(line, out, content_len);
        line = next;
    }
}

enum cn_step cn_zorka_request_next(struct cn_bytes *rest, struct cn_zorka_request *out,
                                   struct cn_error *err)
{
    size_t window = rest->len < HEAD_MAX ? rest->len : HEAD_MAX;
    struct cn_zorka_request request = {0};
    struct cn_bytes head;
    uint64_t content_len;

    if (rest->len == 0)
        return CN_END;
    const uint8_t *end = memmem(rest->ptr, window, blank_line, sizeof(blank_line) - 1);
    if (!cn_zorka_request_probe(*rest) || !end)
        return cn_fail(err, CN_ERR_FORMAT, "a request without a head of at most %d bytes",
                       HEAD_MAX);
    (void)cn_bytes_take(rest, (size_t)(end - rest->ptr) + sizeof(blank_line) - 1, &head);
    cn_zorka_request_head(head, &request, &content_len);
    if (content_len > rest->len ||
        !cn_bytes_take(rest, (size_t)content_len, &request.body))
        return cn_fail(err, CN_ERR_FORMAT,
                       "a request of %llu bytes, of which %zu are there",
                       (unsigned long long)content_len, rest->len);
    *out = request;
    return CN_ITEM;
}
