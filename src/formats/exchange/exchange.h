/* Formats of other tools; docs/formats/exchange.md lists what each of them stores.
 *
 * The formats of `cairn dump` write the same output as `uftrace dump` of the same name.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_EXCHANGE_EXCHANGE_H
#define CN_FORMATS_EXCHANGE_EXCHANGE_H

#include "model/format.h"

/* cairn convert --to NAME. */
struct cn_call_query;

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

/* Only read. */
extern const struct cn_format cn_format_cpuprofile;
extern const struct cn_format cn_format_heapprofile;
extern const struct cn_format cn_format_heapprofd;
extern const struct cn_format cn_format_heaptrack;
extern const struct cn_format cn_format_massif;

/* cairn dump --format NAME. */
extern const struct cn_format cn_dump_chrome;
extern const struct cn_format cn_dump_flame_graph;
extern const struct cn_format cn_dump_graphviz;
extern const struct cn_format cn_dump_mermaid;

/* The formats of `cairn dump`, terminated by NULL. */
extern const struct cn_format *const cn_dump_formats[];

/* Write with the export functions of a format. On failure the target is as it was before,
 * except that damaged tasks are written up to the damage. */
CN_CHECK bool cn_export_calls(const struct cn_format *format,
                              const struct cn_call_query *query, const char *path,
                              const struct cn_write_options *options,
                              struct cn_error *err);
CN_CHECK bool cn_export_database(const struct cn_format *format, struct cn_database *db,
                                 const char *path, const struct cn_write_options *options,
                                 struct cn_error *err);
CN_CHECK bool cn_export_traces(const struct cn_format *format,
                               const struct cn_format *from, const char *source,
                               const char *path, const struct cn_write_options *options,
                               struct cn_error *err);

#endif
