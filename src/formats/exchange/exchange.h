/* The formats that other tools read: what each can hold is in docs/formats/exchange.md.
 *
 * Those of cairn dump write what uftrace dump writes under the same names.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_EXCHANGE_EXCHANGE_H
#define CN_FORMATS_EXCHANGE_EXCHANGE_H

#include "model/format.h"

/* cairn convert --to NAME. */
extern const struct cn_format cn_format_callgrind;
extern const struct cn_format cn_format_chrome;
extern const struct cn_format cn_format_csv;
extern const struct cn_format cn_format_dot;
extern const struct cn_format cn_format_firefox;
extern const struct cn_format cn_format_flamegraph_svg;
extern const struct cn_format cn_format_folded;
extern const struct cn_format cn_format_mermaid;
extern const struct cn_format cn_format_ndjson;
extern const struct cn_format cn_format_otlp;
extern const struct cn_format cn_format_otlp_json;
extern const struct cn_format cn_format_perfetto;
extern const struct cn_format cn_format_pprof;
extern const struct cn_format cn_format_speedscope;
extern const struct cn_format cn_format_speedscope_calls;
extern const struct cn_format cn_format_zipkin;

/* cairn dump --format NAME. */
extern const struct cn_format cn_dump_chrome;
extern const struct cn_format cn_dump_flame_graph;
extern const struct cn_format cn_dump_graphviz;
extern const struct cn_format cn_dump_mermaid;

/* All of these; ended by NULL. */
extern const struct cn_format *const cn_dump_formats[];

#endif
