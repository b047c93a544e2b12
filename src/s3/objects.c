#include "s3/s3.h"

#include "s3/xml.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

bool cn_s3_get(struct cn_s3 *s3, const char *key, struct cn_text *out, bool *is_found,
               struct cn_error *err)
{
    struct cn_s3_request request = {.method = CN_S3_GET, .key = key};
    bool ok = cn_s3_run(s3, &request, 1, err);

    cn_text_clear(out);
    if (ok && request.status != 404)
        cn_text_add(out, cn_text_str(&request.answer), request.answer.len);
    if (ok)
        *is_found = request.status != 404;
    cn_text_done(&request.answer);
    return ok;
}

bool cn_s3_get_twice(struct cn_s3 *s3, const char *key, struct cn_text *out,
                     bool *is_found, struct cn_error *err)
{
    enum { TRIES = 6 };
    struct cn_text again = {0};
    bool was_found, is_same = false;
    bool ok = cn_s3_get(s3, key, out, is_found, err);

    for (unsigned i = 1; ok && !is_same && i < TRIES; i++) {
        struct cn_text last = *out;

        *out = again;
        again = last;
        was_found = *is_found;
        ok = cn_s3_get(s3, key, out, is_found, err);
        is_same = ok && *is_found == was_found && out->len == again.len &&
                  memcmp(cn_text_str(out), cn_text_str(&again), out->len) == 0;
    }
    cn_text_done(&again);
    return ok && (is_same || cn_fail(err, CN_ERR_IO, "%s: each answer is another", key));
}

bool cn_s3_remove(struct cn_s3 *s3, const char *key, struct cn_error *err)
{
    struct cn_s3_request request = {.method = CN_S3_DELETE, .key = key};
    bool ok = cn_s3_run(s3, &request, 1, err);

    cn_text_done(&request.answer);
    return ok;
}

/* A large object in parts, so that a fault costs a part. */
enum { PART_LEN = 16 << 20, PARTS_MAX = 10000 };

static bool begin_parts(struct cn_s3 *s3, const char *key, struct cn_text *id,
                        struct cn_error *err)
{
    struct cn_s3_request request = {
        .method = CN_S3_POST, .key = key, .query = "uploads="};
    bool ok = cn_s3_run(s3, &request, 1, err) &&
              cn_s3_xml_find(&request.answer, "UploadId", id, err) &&
              (id->len > 0 ||
               cn_fail(err, CN_ERR_FORMAT, "%s: the answer has no UploadId", key));

    cn_text_done(&request.answer);
    return ok;
}

/* Percent-encode an id for a query. */
static void encode(struct cn_text *out, const char *text)
{
    for (; *text; text++) {
        bool is_plain = (*text >= 'a' && *text <= 'z') ||
                        (*text >= 'A' && *text <= 'Z') ||
                        (*text >= '0' && *text <= '9') || strchr("-_.~", *text);

        if (is_plain)
            cn_text_char(out, *text);
        else
            cn_text_printf(out, "%%%02X", (unsigned char)*text);
    }
}

static bool send_parts(struct cn_s3 *s3, const char *key, const char *id,
                       struct cn_bytes body, struct cn_text *list, struct cn_error *err)
{
    size_t count = (body.len + PART_LEN - 1) / PART_LEN;
    struct cn_s3_request *parts = cn_alloc(count, sizeof(*parts));
    struct cn_text *queries = cn_alloc(count, sizeof(*queries));
    bool ok;

    for (size_t i = 0; i < count; i++) {
        size_t off = i * PART_LEN, rest = body.len - off;

        cn_text_printf(&queries[i], "partNumber=%zu&uploadId=%s", i + 1, id);
        parts[i] = (struct cn_s3_request){
            .method = CN_S3_PUT,
            .key = key,
            .query = cn_text_str(&queries[i]),
            .body = {body.ptr + off, rest < PART_LEN ? rest : PART_LEN},
        };
    }
    ok = cn_s3_run(s3, parts, count, err);
    cn_text_str_add(list, "<CompleteMultipartUpload>");
    for (size_t i = 0; i < count; i++) {
        if (ok && parts[i].status == 404)
            ok = cn_fail(err, CN_ERR_IO, "%s: the upload of its parts was removed", key);
        cn_text_printf(list, "<Part><PartNumber>%zu</PartNumber><ETag>%s</ETag></Part>",
                       i + 1, parts[i].etag);
        cn_text_done(&parts[i].answer);
        cn_text_done(&queries[i]);
    }
    cn_text_str_add(list, "</CompleteMultipartUpload>");
    free(parts);
    free(queries);
    return ok;
}

static void abandon_parts(struct cn_s3 *s3, const char *key, const char *query)
{
    struct cn_s3_request request = {.method = CN_S3_DELETE, .key = key, .query = query};
    struct cn_error ignored;

    (void)!cn_s3_run(s3, &request, 1, &ignored);
    cn_text_done(&request.answer);
}

static bool put_parts(struct cn_s3 *s3, const char *key, struct cn_bytes body,
                      struct cn_error *err)
{
    struct cn_text id = {0}, encoded = {0}, query = {0}, list = {0}, failure = {0};
    struct cn_s3_request request = {.method = CN_S3_POST, .key = key};
    bool ok = begin_parts(s3, key, &id, err);

    if (ok) {
        encode(&encoded, cn_text_str(&id));
        cn_text_printf(&query, "uploadId=%s", cn_text_str(&encoded));
        ok = send_parts(s3, key, cn_text_str(&encoded), body, &list, err);
        request.query = cn_text_str(&query);
        request.body = (struct cn_bytes){(const uint8_t *)cn_text_str(&list), list.len};
        ok = ok && cn_s3_run(s3, &request, 1, err) &&
             (request.status != 404 ||
              cn_fail(err, CN_ERR_IO, "%s: the upload of its parts was removed", key)) &&
             cn_s3_xml_find(&request.answer, "Code", &failure, err) &&
             /* A failure while parts are joined has status 200. */
             (failure.len == 0 ||
              cn_fail(err, CN_ERR_IO, "%s: its parts could not be joined: %s", key,
                      cn_text_str(&failure)));
        if (!ok)
            abandon_parts(s3, key, cn_text_str(&query));
    }
    cn_text_done(&request.answer);
    cn_text_done(&id);
    cn_text_done(&encoded);
    cn_text_done(&query);
    cn_text_done(&list);
    cn_text_done(&failure);
    return ok;
}

bool cn_s3_put(struct cn_s3 *s3, const char *key, struct cn_bytes body, bool *is_written,
               struct cn_error *err)
{
    struct cn_s3_request request = {
        .method = CN_S3_PUT, .key = key, .body = body, .if_absent = is_written != NULL};
    bool ok;

    if (!is_written && body.len > PART_LEN && body.len <= (uint64_t)PART_LEN * PARTS_MAX)
        return put_parts(s3, key, body, err);
    ok = cn_s3_run(s3, &request, 1, err);
    if (ok && request.status == 404)
        ok = cn_fail(err, CN_ERR_NOT_FOUND, "bucket '%s' does not exist",
                     cn_s3_settings(s3)->bucket);
    if (ok && is_written)
        *is_written = request.status != 412;
    cn_text_done(&request.answer);
    return ok;
}

/* Objects of one answer, whose keys have the prefix of the address and of what is listed. */
struct s3_page {
    const char *prefix, *begin;
    cn_s3_visit visit;
    void *arg;
    uint64_t count;
};

static bool visit_below(void *arg, const struct cn_s3_object *object,
                        struct cn_error *err)
{
    struct s3_page *page = arg;
    struct cn_s3_object below = *object;
    size_t len = strlen(page->prefix);

    if (strncmp(object->key, page->prefix, len) != 0 ||
        strncmp(object->key + len, page->begin, strlen(page->begin)) != 0)
        return cn_fail(err, CN_ERR_FORMAT, "a list of '%s%s' has '%s'", page->prefix,
                       page->begin, object->key);
    below.key += len;
    page->count++;
    return page->visit(page->arg, &below, err);
}

/* The query for a page; `token`: empty for the first. */
static void print_query(struct cn_text *query, const struct s3_page *page,
                        const struct cn_text *token)
{
    if (token->len > 0) {
        cn_text_str_add(query, "continuation-token=");
        encode(query, cn_text_str(token));
        cn_text_char(query, '&');
    }
    cn_text_str_add(query, "list-type=2&prefix=");
    encode(query, page->prefix);
    encode(query, page->begin);
}

/* `next` receives the token of the next page; empty: this is the last. */
static bool take_page(struct cn_s3 *s3, const struct cn_s3_request *request,
                      struct s3_page *page, struct cn_text *next, struct cn_error *err)
{
    struct cn_text count = {0}, listed = {0}, asked = {0};
    bool ok;

    if (request->status == 404)
        return cn_fail(err, CN_ERR_NOT_FOUND, "bucket '%s' does not exist",
                       cn_s3_settings(s3)->bucket);
    page->count = 0;
    ok = cn_s3_xml_list(&request->answer, visit_below, page, err) &&
         cn_s3_xml_find(&request->answer, "NextContinuationToken", next, err) &&
         cn_s3_xml_find(&request->answer, "KeyCount", &count, err) &&
         cn_s3_xml_find(&request->answer, "Prefix", &listed, err);
    cn_text_printf(&asked, "%s%s", page->prefix, page->begin);
    if (ok && strcmp(cn_text_str(&listed), cn_text_str(&asked)) != 0)
        ok = cn_fail(err, CN_ERR_FORMAT, "the answer is a list of '%s', not of '%s'",
                     cn_text_str(&listed), cn_text_str(&asked));
    if (ok && count.len > 0 && strtoull(cn_text_str(&count), NULL, 10) != page->count)
        ok = cn_fail(err, CN_ERR_FORMAT, "a list of '%s' is incomplete",
                     cn_text_str(&asked));
    cn_text_done(&count);
    cn_text_done(&listed);
    cn_text_done(&asked);
    return ok;
}

static bool list_page(struct cn_s3 *s3, struct s3_page *page, struct cn_text *next,
                      struct cn_error *err)
{
    struct cn_s3_request request = {.method = CN_S3_GET};
    struct cn_text query = {0};

    print_query(&query, page, next);
    request.query = cn_text_str(&query);
    bool ok = cn_s3_run(s3, &request, 1, err) && take_page(s3, &request, page, next, err);
    cn_text_done(&request.answer);
    cn_text_done(&query);
    return ok;
}

bool cn_s3_list(struct cn_s3 *s3, const char *begin, cn_s3_visit visit, void *arg,
                struct cn_error *err)
{
    struct s3_page page = {cn_s3_settings(s3)->prefix, begin, visit, arg, 0};
    struct cn_text next = {0};
    bool ok;

    do {
        ok = list_page(s3, &page, &next, err);
    } while (ok && next.len > 0);
    cn_text_done(&next);
    return ok;
}

bool cn_s3_get_and_list(struct cn_s3 *s3, const char *key, struct cn_text *out,
                        bool *is_found, const char *begin, cn_s3_visit visit, void *arg,
                        struct cn_error *err)
{
    struct s3_page page = {cn_s3_settings(s3)->prefix, begin, visit, arg, 0};
    struct cn_s3_request requests[] = {{.method = CN_S3_GET, .key = key},
                                       {.method = CN_S3_GET}};
    struct cn_text query = {0}, next = {0};
    bool ok;

    print_query(&query, &page, &next);
    requests[1].query = cn_text_str(&query);
    ok = cn_s3_run(s3, requests, 2, err);
    cn_text_clear(out);
    if (ok) {
        *is_found = requests[0].status != 404;
        if (*is_found) {
            cn_text_add(out, cn_text_str(&requests[0].answer), requests[0].answer.len);
            ok = take_page(s3, &requests[1], &page, &next, err);
        }
    }
    while (ok && next.len > 0)
        ok = list_page(s3, &page, &next, err);
    cn_text_done(&requests[0].answer);
    cn_text_done(&requests[1].answer);
    cn_text_done(&query);
    cn_text_done(&next);
    return ok;
}
