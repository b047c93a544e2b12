/* What can be asked of the things that are served: one function a question, its answer
 * one JSON value. docs/http-api.md describes each; route.c lists them.
 * Threads: any thread.
 */
#ifndef CN_SERVER_API_API_H
#define CN_SERVER_API_API_H

#include "base/error.h"

struct cn_request;
struct cn_served;

/* On failure the caller forgets what was written and answers with the error. */
typedef bool (*cn_api_fn)(struct cn_served *served, struct cn_request *request,
                          struct cn_error *err);

bool cn_api_info(struct cn_served *served, struct cn_request *request,
                 struct cn_error *err);
bool cn_api_threads(struct cn_served *served, struct cn_request *request,
                    struct cn_error *err);
bool cn_api_rows(struct cn_served *served, struct cn_request *request,
                 struct cn_error *err);
bool cn_api_hot_path(struct cn_served *served, struct cn_request *request,
                     struct cn_error *err);
bool cn_api_search(struct cn_served *served, struct cn_request *request,
                   struct cn_error *err);
bool cn_api_flame(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err);
bool cn_api_context(struct cn_served *served, struct cn_request *request,
                    struct cn_error *err);
bool cn_api_function(struct cn_served *served, struct cn_request *request,
                     struct cn_error *err);
bool cn_api_source(struct cn_served *served, struct cn_request *request,
                   struct cn_error *err);
bool cn_api_timeline(struct cn_served *served, struct cn_request *request,
                     struct cn_error *err);
bool cn_api_stack(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err);
bool cn_api_range(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err);
bool cn_api_calls(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err);
bool cn_api_find(struct cn_served *served, struct cn_request *request,
                 struct cn_error *err);

/* Of stores. */
bool cn_api_store_info(struct cn_served *served, struct cn_request *request,
                       struct cn_error *err);
bool cn_api_traces(struct cn_served *served, struct cn_request *request,
                   struct cn_error *err);
bool cn_api_histogram(struct cn_served *served, struct cn_request *request,
                      struct cn_error *err);
bool cn_api_groups(struct cn_served *served, struct cn_request *request,
                   struct cn_error *err);
bool cn_api_names(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err);
bool cn_api_trace(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err);
bool cn_api_trace_methods(struct cn_served *served, struct cn_request *request,
                          struct cn_error *err);
bool cn_api_trace_find(struct cn_served *served, struct cn_request *request,
                       struct cn_error *err);
bool cn_api_traces_flame(struct cn_served *served, struct cn_request *request,
                         struct cn_error *err);

/* Append {id, kind, name, path, format, state}, what is known about a thing at once. */
void cn_api_describe(struct cn_served *served, unsigned id, struct cn_request *request);

#endif
