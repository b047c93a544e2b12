#include "formats/uftrace/verify/verify.h"

#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/directory/open.h"

enum { REPORTED_MAX = 8 }; /* of one rule in one file */

bool cn_uft_verify(const char *path, const struct cn_progress *progress,
                   cn_finding_fn report, void *arg, struct cn_error *err)
{
    struct cn_uft_checking c = {.f = {.report = report,
                                      .arg = arg,
                                      .error_max = REPORTED_MAX,
                                      .warning_max = REPORTED_MAX,
                                      .file = "info"}};
    struct cn_recording *rec;
    struct cn_error problem = {0};

    if (!cn_uft_open(&rec, path, NULL, &problem)) {
        if (problem.kind != CN_ERR_FORMAT && problem.kind != CN_ERR_VERSION) {
            *err = problem;
            return false;
        }
        cn_findings_error(&c.f, "info-header", 0, "%s", problem.text);
        return true;
    }
    c.dir = cn_uft_directory_of(rec);
    cn_uft_check_texts(&c);
    bool ok = cn_uft_check_records(&c, progress, err);
    cn_findings_begin(&c.f, NULL);
    cn_recording_close(rec);
    return ok;
}
