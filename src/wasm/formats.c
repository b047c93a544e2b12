/* The table of formats that a page opens, in place of open/table.c: probed in the same order. A page
 * writes, verifies and dumps nothing, and has no room for what does. */

#include "open/formats.h"

#include "formats/exchange/exchange.h"
#include "formats/exchange/perf/perf.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/traces/span_calls.h"
#include "formats/hpctoolkit/proto/open.h"
#include "formats/hpctoolkit/v4/read/open.h"
#include "formats/hpctoolkit/xml/legacy/legacy.h"
#include "formats/hpctoolkit/xml/read/open.h"
#include "formats/uftrace/directory/open.h"
#include "store/format.h"
#include "store/recording.h"

const struct cn_format *const cn_formats[] = {
    &(const struct cn_format){.name = "hpctoolkit-v4",
                              .probe = cn_hpc_v4_probe,
                              .open_database = cn_hpc_v4_open},
    &(const struct cn_format){.name = "hpctoolkit-proto",
                              .probe = cn_hpc_proto_probe,
                              .open_database = cn_hpc_proto_open},
    &(const struct cn_format){.name = "hpctoolkit-xml",
                              .probe = cn_hpc_xml_probe,
                              .open_database = cn_hpc_xml_open},
    &(const struct cn_format){.name = "hpctoolkit-xml-legacy",
                              .probe = cn_hpc_xml_legacy_probe,
                              .open_database = cn_hpc_legacy_open},
    &(const struct cn_format){.name = "uftrace-packed",
                              .probe = cn_uft_packed_probe,
                              .open_recording = cn_uft_open},
    &(const struct cn_format){
        .name = "uftrace", .probe = cn_uft_probe, .open_recording = cn_uft_open},
    &(const struct cn_format){.name = "store",
                              .is_store = true,
                              .probe = cn_store_probe,
                              .open_traces = cn_store_recording_open},
    &cn_format_perf,
    &cn_format_perf_script,
    &(const struct cn_format){
        .name = "chrome", .probe = cn_chrome_probe, .open_recording = cn_chrome_open},
    &cn_format_cpuprofile,
    &cn_format_heapprofile,
    &cn_format_heapprofd,
    &cn_format_heaptrack,
    &cn_format_massif,
    &(const struct cn_format){
        .name = "firefox", .probe = cn_firefox_probe, .open_database = cn_firefox_open},
    &(const struct cn_format){.name = "callgrind",
                              .probe = cn_callgrind_probe,
                              .open_database = cn_callgrind_open},
    &(const struct cn_format){
        .name = "folded", .probe = cn_folded_probe, .open_database = cn_folded_open},
    &(const struct cn_format){.name = "perfetto",
                              .probe = cn_perfetto_probe,
                              .open_recording = cn_perfetto_open},
    &(const struct cn_format){
        .name = "pprof", .probe = cn_pprof_probe, .open_database = cn_pprof_open},
    &(const struct cn_format){.name = "speedscope",
                              .probe = cn_speedscope_probe,
                              .open_database = cn_speedscope_open},
    &cn_format_speedscope_calls,
    &(const struct cn_format){
        .name = "otlp", .probe = cn_otlp_probe, .open_traces = cn_span_calls_open},
    &(const struct cn_format){.name = "otlp-json",
                              .probe = cn_otlp_json_probe,
                              .open_traces = cn_span_calls_open},
    &(const struct cn_format){
        .name = "zipkin", .probe = cn_zipkin_probe, .open_traces = cn_span_calls_open},
    NULL,
};
