/* What of TraceQL the indexes can answer: each filter of a program as a query of store/search about
 * one span (store/search/query.h), so that both languages are the same program for the indexes.
 *
 * The query finds at least the spans that match the filter. What it cannot say, it leaves out.
 * Threads: one thread at a time for each program.
 */
#ifndef CN_STORE_TRACEQL_CONDITION_H
#define CN_STORE_TRACEQL_CONDITION_H

struct cn_tql_program;

/* Fill in `condition` and the flags of all filters. */
void cn_tql_conditions(struct cn_tql_program *program);

#endif
