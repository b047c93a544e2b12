#include "formats/uftrace/directory/checksums.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/crc32c.h"
#include "base/files/file.h"
#include "base/files/out.h"
#include "base/sort.h"
#include "base/text.h"
#include "formats/uftrace/format.h"
#include "formats/uftrace/packed/record_source.h"
#include "formats/uftrace/text/scan.h"

#define HEAD "cairn-checksums-1 "

enum { HEAD_LEN = sizeof(HEAD) - 1 + 8 + 1 };

static bool is_wanted(const char *name)
{
    uint32_t tid;

    return name[0] != '.' && !strchr(name, '\n') &&
           cn_uft_task_file(name, &tid) == CN_UFT_NO_TASK &&
           strcmp(name, CN_UFT_CHECKSUMS_NAME) != 0;
}

struct checksums_names {
    char **list;
    size_t count, capacity;
};

static bool list_names(struct checksums_names *names, const char *dir,
                       struct cn_error *err)
{
    DIR *folder = opendir(dir);
    struct dirent *entry;

    if (!folder)
        return cn_fail_errno(err, "%s", dir);
    while ((entry = readdir(folder))) {
        if (entry->d_type == DT_DIR || !is_wanted(entry->d_name))
            continue;
        CN_PUSH(names->list, names->count, names->capacity, cn_strdup(entry->d_name));
    }
    (void)closedir(folder);
    CN_SORT_VALUES(names->list, names->count);
    return true;
}

static bool print_line(struct cn_text *text, const char *dir, const char *name,
                       struct cn_error *err)
{
    struct cn_file file = {0};

    if (!cn_file_open_at(&file, dir, name, err))
        return false;
    cn_text_printf(text, "%08" PRIx32 " %zu %s\n", cn_crc32c(file.bytes), file.bytes.len,
                   name);
    cn_file_close(&file);
    return true;
}

bool cn_uft_checksums_write(const char *dir, struct cn_error *err)
{
    struct cn_text lines = {0}, text = {0};
    struct checksums_names names = {0};
    bool ok = list_names(&names, dir, err);

    for (size_t i = 0; i < names.count && ok; i++)
        ok = print_line(&lines, dir, names.list[i], err);
    cn_text_printf(
        &text, HEAD "%08" PRIx32 "\n%s",
        cn_crc32c((struct cn_bytes){(const uint8_t *)cn_text_str(&lines), lines.len}),
        cn_text_str(&lines));
    ok = ok &&
         cn_out_replace(dir, CN_UFT_CHECKSUMS_NAME, cn_text_str(&text), text.len, err);
    for (size_t i = 0; i < names.count; i++)
        free(names.list[i]);
    free(names.list);
    cn_text_done(&lines);
    cn_text_done(&text);
    return ok;
}

static void check_file(const struct cn_uft_checksums_check *check, const char *name,
                       uint64_t crc, uint64_t len)
{
    struct cn_text text = {0};
    struct cn_bytes file;
    uint32_t found;

    if (!check->find(check->arg, name, &file)) {
        cn_text_printf(&text, "%s is missing", name);
    } else if (file.len < len) {
        cn_text_printf(&text, "%s: truncated to %zu bytes of %" PRIu64, name, file.len,
                       len);
    } else {
        found = cn_crc32c((struct cn_bytes){file.ptr, (size_t)len});
        if (found != crc)
            cn_text_printf(&text,
                           "%s: damaged: checksum %08" PRIx32 ", expected %08" PRIx64,
                           name, found, crc);
    }
    if (text.len > 0)
        check->report(check->arg, cn_text_str(&text));
    cn_text_done(&text);
}

static bool check_line(struct cn_bytes line, const struct cn_uft_checksums_check *check)
{
    struct cn_text name = {0};
    uint64_t crc, len;
    bool ok = cn_uft_scan_hex(&line, &crc) && cn_uft_scan_spaces(&line) &&
              cn_uft_scan_dec(&line, &len) && cn_uft_scan_literal(&line, " ") &&
              line.len > 0;

    if (ok) {
        cn_text_add(&name, (const char *)line.ptr, line.len);
        check_file(check, cn_text_str(&name), crc, len);
    }
    cn_text_done(&name);
    return ok;
}

void cn_uft_checksums_check(struct cn_bytes text,
                            const struct cn_uft_checksums_check *check)
{
    struct cn_bytes head = text, line;
    uint64_t crc = 0;
    bool ok = text.len >= HEAD_LEN && cn_uft_scan_literal(&head, HEAD) &&
              cn_uft_scan_hex(&head, &crc);

    if (ok) {
        text.ptr += HEAD_LEN;
        text.len -= HEAD_LEN;
        ok = cn_crc32c(text) == crc;
    }
    while (ok && cn_uft_scan_until(&text, '\n', &line))
        ok = check_line(line, check);
    if (!ok)
        check->report(check->arg,
                      CN_UFT_CHECKSUMS_NAME ": damaged: other files cannot be checked");
}
