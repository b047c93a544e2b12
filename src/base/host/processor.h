/* The processor of this machine.
 * Threads: any thread.
 */
#ifndef CN_BASE_HOST_PROCESSOR_H
#define CN_BASE_HOST_PROCESSOR_H

struct cn_text;

/* Append its model, as /proc/cpuinfo names it; nothing if it is unknown. */
void cn_processor_print(struct cn_text *text);

#endif
