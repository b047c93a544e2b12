#include "formats/uftrace/text/task_reader.h"

#include <string.h>

/* A path may contain spaces, so search for the build-id from the end. */
static void split_build_id(struct cn_bytes text, struct cn_uft_map_line *out)
{
    static const char mark[] = " build-id:";
    size_t mark_len = sizeof(mark) - 1;

    out->path = text;
    out->build_id = (struct cn_bytes){text.ptr, 0};
    for (size_t at = text.len; at-- > 0;) {
        if (text.ptr[at] != ' ')
            continue;
        if (text.len - at >= mark_len && memcmp(text.ptr + at, mark, mark_len) == 0) {
            (void)cn_bytes_slice(text, 0, at, &out->path);
            (void)cn_bytes_from(text, at + mark_len, &out->build_id);
        }
        return;
    }
}

/* "aaaa0000-aaaa1000 r-xp 00000000 08:01 1234   /path build-id:0123" */
static bool scan_line(struct cn_bytes line, void *out)
{
    struct cn_uft_map_line found = {0};
    struct cn_bytes word;

    if (!cn_uft_scan_hex(&line, &found.begin) || !cn_uft_scan_literal(&line, "-") ||
        !cn_uft_scan_hex(&line, &found.end) || found.end < found.begin ||
        !cn_uft_scan_spaces(&line) || !cn_uft_scan_word(&line, &word) ||
        word.len != sizeof(found.protection) - 1)
        return false;
    memcpy(found.protection, word.ptr, word.len);
    for (int skipped = 0; skipped < 3; skipped++)
        if (!cn_uft_scan_spaces(&line) || !cn_uft_scan_word(&line, &word))
            return false;
    (void)cn_uft_scan_spaces(&line);
    split_build_id(line, &found);
    *(struct cn_uft_map_line *)out = found;
    return true;
}

enum cn_step cn_uft_map_next(struct cn_uft_lines *lines, struct cn_uft_map_line *out,
                             struct cn_error *err)
{
    return cn_uft_lines_scan(lines, scan_line, out, err);
}
