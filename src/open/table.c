/* The table of formats: probed in this order. */

#include "formats/exchange/exchange.h"
#include "formats/exchange/perf/perf.h"
#ifdef CN_HAS_SQLITE
#include "formats/exchange/write/sqlite/sqlite.h"
#endif
#include "formats/hpctoolkit/meas/meas.h"
#include "formats/hpctoolkit/proto/proto.h"
#include "formats/hpctoolkit/v4/v4.h"
#include "formats/hpctoolkit/xml/xml.h"
#include "formats/uftrace/uftrace.h"
#include "open/formats.h"
#include "store/format.h"

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
    &cn_format_sqlite,
#endif
    NULL,
};
