#include "support/findings.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "formats/hpctoolkit/v4/verify/verify.h"

struct list {
    struct cn_text *out;
    size_t error_count;
};

static void add_finding(void *arg, const struct cn_finding *finding)
{
    struct list *list = arg;

    list->error_count += finding->is_error;
    cn_text_printf(list->out, "%s %s 0x%" PRIx64 " %s: %s\n",
                   finding->is_error ? "error" : "warning", finding->file, finding->off,
                   finding->rule, finding->text);
}

void cn_findings_list(const struct cn_hpc_v4_files *files, struct cn_text *out,
                      size_t *error_count)
{
    struct list list = {.out = out};
    struct cn_error err = {0};

    if (!cn_hpc_v4_verify_bytes(files, NULL, add_finding, &list, &err))
        fail_msg("%s", err.text);
    *error_count = list.error_count;
}

void cn_findings_expect(const struct cn_tiny_v4 *tiny, const char *fmt, ...)
{
    struct cn_hpc_v4_files files;
    struct cn_text found = {0};
    char expected[512] = "\n";
    size_t error_count;
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(expected + 1, sizeof(expected) - 2, fmt, args);
    va_end(args);
    strcat(expected, "\n");
    cn_tiny_v4_files(tiny, &files);
    cn_text_char(&found, '\n');
    cn_findings_list(&files, &found, &error_count);
    if (!strstr(cn_text_str(&found), expected))
        fail_msg("expected:%sfound:%s", expected, cn_text_str(&found));
    cn_text_done(&found);
}
