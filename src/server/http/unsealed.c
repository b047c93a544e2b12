#include "server/http/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes/digits.h"
#include "server/api/request.h"
#include "store/bucket/collector_url.h"
#include "store/maintenance/unsealed_list.h"
#include "store/pipeline/collector.h"

enum { NUMBER_LEN = 6 };

bool cn_fresh_is_address(const char *url)
{
    size_t len = strlen(CN_FRESH_PATH);

    return strncmp(url, CN_FRESH_PATH, len) == 0 && (url[len] == '\0' || url[len] == '/');
}

/* Files may have been cut since another start, or before a lane was opened again. */
static void print_label(struct cn_server *server, char label[CN_MANIFEST_ID_LEN + 1])
{
    uint32_t failures = (uint32_t)cn_collector_counts(server->collector).failures;

    (void)snprintf(label, CN_MANIFEST_ID_LEN + 1, "%.24s%08x", server->start_id,
                   failures);
}

static struct MHD_Response *answer_list(struct cn_server *server, struct cn_error *err)
{
    char label[CN_MANIFEST_ID_LEN + 1];
    struct MHD_Response *response = NULL;
    struct cn_cbor_out out = {0};

    print_label(server, label);
    if (cn_fresh_list(server->collect, label, &out, err)) {
        response =
            MHD_create_response_from_buffer(out.len, out.bytes, MHD_RESPMEM_MUST_COPY);
        if (!response)
            (void)cn_fail(err, CN_ERR_NO_MEMORY, "no memory for the answer");
    }
    cn_cbor_out_done(&out);
    return response;
}

static bool parse_number(struct MHD_Connection *connection, const char *name,
                         uint64_t *out, struct cn_error *err)
{
    const char *value =
        MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);

    return (value && cn_number_take(&value, UINT64_MAX, out) && *value == '\0') ||
           cn_fail(err, CN_ERR_USAGE, "parameter %s is not a number", name);
}

static struct MHD_Response *answer_file(struct cn_server *server,
                                        struct MHD_Connection *connection,
                                        const char *file, struct cn_error *err)
{
    struct MHD_Response *response;
    uint64_t from, len, file_len;
    int fd;

    if (!cn_hex_begins(file, NUMBER_LEN) || file[NUMBER_LEN] != '/') {
        (void)cn_fail(err, CN_ERR_NOT_FOUND, "there is no segment '%.40s'", file);
        return NULL;
    }
    if (!parse_number(connection, "from", &from, err) ||
        !parse_number(connection, "len", &len, err) ||
        !cn_fresh_open(server->collect, (uint32_t)strtoul(file, NULL, 16),
                       file + NUMBER_LEN + 1, &fd, &file_len, err))
        return NULL;
    if (from > file_len || len > file_len - from)
        (void)cn_fail(err, CN_ERR_NOT_FOUND, "'%.40s' has %" PRIu64 " bytes", file,
                      file_len);
    else if ((response = MHD_create_response_from_fd_at_offset64(len, fd, from)))
        return response; /* which closes the file */
    else
        (void)cn_fail(err, CN_ERR_NO_MEMORY, "no memory for the answer");
    (void)close(fd);
    return NULL;
}

struct MHD_Response *cn_fresh_answer(struct cn_server *server,
                                     struct MHD_Connection *connection, const char *url,
                                     struct cn_error *err)
{
    const char *rest = url + strlen(CN_FRESH_PATH);

    if (!server->collector || !server->uploader) {
        (void)cn_fail(err, CN_ERR_NOT_FOUND,
                      "this server does not collect traces for a "
                      "store in object storage");
        return NULL;
    }
    return *rest ? answer_file(server, connection, rest + 1, err)
                 : answer_list(server, err);
}
