/* The questions that can be asked of sources: one function per question, which writes the members
 * of the answer, a JSON object, or the items of an array. docs/http-api.md describes them, route.c
 * lists them.
 * Threads: any thread.
 */
#ifndef CN_SERVER_API_API_H
#define CN_SERVER_API_API_H

#include "base/error.h"
#include "server/api/parameters.h"
#include "server/api/trace_load.h"

/* On failure the caller drops what was written and answers with the error. */
typedef bool cn_api_answer(struct cn_served *served, struct cn_request *request,
                           struct cn_error *err);

/* Of databases and recordings. */
cn_api_answer cn_api_info, cn_api_header, cn_api_overview, cn_api_threads, cn_api_rows,
    cn_api_search, cn_api_flame, cn_api_context, cn_api_function, cn_api_timeline,
    cn_api_stack, cn_api_range, cn_api_states, cn_api_counters, cn_api_processors,
    cn_api_flows, cn_api_waits, cn_api_wait_path, cn_api_io;
cn_view_answer cn_api_hot_path, cn_api_source, cn_api_assembly;

/* Of recordings. */
cn_api_answer cn_api_calls, cn_api_find, cn_api_slowest;

/* Of stores. */
cn_api_answer cn_api_names;
cn_query_answer cn_api_store_info, cn_api_traces, cn_api_histogram, cn_api_heat,
    cn_api_groups, cn_api_traces_flame, cn_api_services;
cn_trace_answer cn_api_trace, cn_api_trace_find;
cn_trace_set_answer cn_api_trace_methods, cn_api_critical_path, cn_api_links,
    cn_api_trace_chart;

/* Questions about two sources, or two selections of one. */
struct cn_served_list;
CN_CHECK bool cn_api_diff(const struct cn_served_list *sources,
                          struct cn_request *request, struct cn_error *err);

/* True if the database has a copy of the source file of a context, or of its function. */
struct cn_context;
struct cn_database;
CN_CHECK bool cn_api_has_source(struct cn_database *db, const struct cn_context *context,
                                bool *has, struct cn_error *err);

/* Append {id, kind, name, path, format, state}: what is known of a source without
 * reading it. */
void cn_api_describe(struct cn_served *served, unsigned id, struct cn_request *request);

#endif
