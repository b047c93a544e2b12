#include "server/http/head.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "server/http/state.h"

/* What a head may contain once. */
struct head_counts {
    unsigned hosts, lengths, encodings;
    bool has_zero, has_bad_line;
    uintptr_t end; /* of the line before, in the buffer that libmicrohttpd has read */
};

/* Before 0.9.77, libmicrohttpd takes a zero byte for the end of a value, and LF alone for that
 * of a line, but leaves lines where they were received: text that is hidden is a gap before the
 * next line, and a CR that is missing brings it nearer. Later versions refuse both. A line that
 * was continued on the next is elsewhere; refuse it as well. */
enum { HIDES_ZEROS = MHD_VERSION < 0x00097700, LINE_END_LEN = 2 /* CR LF */ };

static void check_gap(struct head_counts *counts, uintptr_t next, size_t line_ends)
{
    size_t len = line_ends * LINE_END_LEN;
    bool is_before = next >= counts->end && next - counts->end < len;

    counts->has_bad_line |= HIDES_ZEROS && is_before;
    counts->has_zero |= HIDES_ZEROS && !is_before && next - counts->end != len;
}

static enum MHD_Result count_header(void *arg, enum MHD_ValueKind kind, const char *name,
                                    size_t name_len, const char *value, size_t value_len)
{
    struct head_counts *counts = arg;

    (void)kind;
    counts->hosts += strcasecmp(name, "Host") == 0;
    counts->lengths += strcasecmp(name, "Content-Length") == 0;
    counts->encodings += strcasecmp(name, "Transfer-Encoding") == 0;
    counts->has_zero |=
        memchr(name, '\0', name_len) || (value && memchr(value, '\0', value_len));
    /* Others may take "Content-Length :" for the header without the space. */
    counts->has_bad_line |=
        name_len == 0 || name[name_len - 1] == ' ' || name[name_len - 1] == '\t';
    check_gap(counts, (uintptr_t)name, 1);
    if (value)
        counts->end = (uintptr_t)value + value_len;
    return MHD_YES;
}

const char *cn_head_refusal(struct MHD_Connection *connection, const char *method,
                            const char *version)
{
    struct head_counts counts = {.end = (uintptr_t)version + strlen(version)};
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, count_header, &counts);
    if (info)
        check_gap(&counts, (uintptr_t)method + info->header_size, 2);
    counts.has_zero |=
        HIDES_ZEROS && cn_connection_hides_address(connection, (uintptr_t)version);
    if (counts.hosts > 1)
        return "more than one Host header";
    if (counts.lengths + counts.encodings > 1)
        return "more than one Content-Length or Transfer-Encoding header";
    if (counts.has_zero || cn_connection_has_zero(connection))
        return "a zero byte in the address or in a header";
    if (counts.has_bad_line)
        return "a line that does not end with CR LF, or a space before a colon";
    return NULL;
}
