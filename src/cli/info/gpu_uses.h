/* What cairn info says of the GPUs of a database: a line for each device, from the timelines of its streams.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_INFO_GPU_USES_H
#define CN_CLI_INFO_GPU_USES_H

struct cn_database;
struct cn_facts;
struct cn_gpu_uses;
struct cn_sheet;

/* A group with a line for each, "busy 12.6 % of 2.577 s, idle in 101,856 gaps, on 1 stream"; nothing without
 * GPUs. */
void cn_gpu_uses_show(const struct cn_gpu_uses *uses, const struct cn_database *db,
                      struct cn_sheet *sheet);
void cn_gpu_uses_list(const struct cn_gpu_uses *uses, const struct cn_database *db,
                      struct cn_facts *facts);

#endif
