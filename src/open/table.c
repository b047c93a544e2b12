/* The table of formats: probed in this order. */

#ifndef CN_HAS_SQLITE
#include <string.h>

#include "base/files/content.h"
#include "base/files/file.h"
#endif
#include "formats/exchange/exchange.h"
#include "formats/exchange/perf/perf.h"
#ifdef CN_HAS_SQLITE
#include "formats/exchange/read/sqlite/sqlite.h"
#include "formats/exchange/write/sqlite/sqlite.h"
#endif
#include "formats/hpctoolkit/meas/meas.h"
#include "formats/hpctoolkit/proto/proto.h"
#include "formats/hpctoolkit/v4/v4.h"
#include "formats/hpctoolkit/xml/xml.h"
#include "formats/uftrace/uftrace.h"
#include "open/formats.h"
#include "store/format.h"

#ifndef CN_HAS_SQLITE
/* Databases of Nsight Systems and rocprof, in builds without the library. */
static bool is_sqlite(const char *path)
{
    static const char magic[] = "SQLite format 3";
    struct cn_file file = {0};
    struct cn_error ignored;
    struct cn_bytes bytes;
    bool is_right;

    if (!cn_file_open_content(&file, path, &ignored))
        return false;
    is_right = cn_content_slice(cn_file_content(&file), 0, sizeof(magic), &bytes) &&
               memcmp(bytes.ptr, magic, sizeof(magic)) == 0;
    cn_file_close(&file);
    return is_right;
}

static bool refuse(struct cn_recording **out, const char *path,
                   const struct cn_recording_options *options, struct cn_error *err)
{
    (void)out, (void)options;
    return cn_fail(err, CN_ERR_VERSION,
                   "%s: an SQLite database: this cairn was built without SQLite", path);
}

static const struct cn_format no_sqlite = {
    .name = "sqlite",
    .summary = "SQLite databases of profilers: not in this build",
    .holds = "calls",
    .is_file = true,
    .probe = is_sqlite,
    .open_recording = refuse,
};
#endif

const struct cn_format *const cn_formats[] = {
    &cn_format_hpctoolkit_v4,
    &cn_format_hpctoolkit_proto,
    &cn_format_hpctoolkit_xml,
    &cn_format_hpctoolkit_xml_legacy,
    &cn_format_uftrace_packed,
    &cn_format_hpctoolkit_meas,
    &cn_format_uftrace,
    &cn_format_store,
    &cn_format_perf,
    &cn_format_perf_script,
    &cn_format_chrome,
    &cn_format_cpuprofile,
    &cn_format_heapprofile,
    &cn_format_heapprofd,
    &cn_format_heaptrack,
    &cn_format_massif,
    &cn_format_firefox,
    &cn_format_callgrind,
    &cn_format_folded,
    &cn_format_dot,
    &cn_format_mermaid,
    &cn_format_perfetto,
    &cn_format_pprof,
    &cn_format_speedscope,
    &cn_format_speedscope_calls,
    &cn_format_otlp,
    &cn_format_otlp_json,
    &cn_format_zipkin,
    &cn_format_flamegraph_svg,
    &cn_format_ndjson,
    &cn_format_csv,
#ifdef CN_HAS_SQLITE
    &cn_format_nsight,
    &cn_format_rocpd,
    &cn_format_sqlite,
#else
    &no_sqlite,
#endif
    NULL,
};
