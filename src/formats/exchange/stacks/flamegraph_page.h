/* How a flame graph looks and what it does: the style sheet and the script inside it.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_EXCHANGE_STACKS_FLAMEGRAPH_PAGE_H
#define CN_FORMATS_EXCHANGE_STACKS_FLAMEGRAPH_PAGE_H

extern const char cn_flamegraph_style[];
extern const char cn_flamegraph_script[];

#endif
