/* Metric taxonomies as HPCToolkit writes them: metrics/default.yaml and its
 * neighbours.
 *
 * Read one file with cn_hpc_metrics_yaml_read(), add further ones with
 * cn_hpc_metrics_yaml_append(), write with cn_hpc_metrics_yaml_write(). Everything
 * that was read lives in the caller's arena; nothing refers to the text afterwards.
 *
 * Files are hostile: nesting, the number of nodes and the work of following aliases
 * are limited, an unknown key is ignored, an unknown operator fails naming line and
 * column.
 * Threads: any thread, each with an arena of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_METRICS_YAML_H
#define CN_FORMATS_HPCTOOLKIT_METRICS_YAML_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "model/contexts/taxonomy.h"

struct cn_text;

/* On failure *out is untouched; the arena may have grown. */
CN_CHECK bool cn_hpc_metrics_yaml_read(struct cn_bytes text, struct cn_taxonomy *out,
                                       struct cn_arena *arena, struct cn_error *err);

/* Add the roots of another file behind those of `taxonomy`, and its inputs where the
 * taxonomy lacks them. On failure the taxonomy is as it was. */
CN_CHECK bool cn_hpc_metrics_yaml_append(struct cn_bytes text,
                                         struct cn_taxonomy *taxonomy,
                                         struct cn_arena *arena, struct cn_error *err);

/* Append the taxonomy as a complete file, in the style of hpcprof. */
void cn_hpc_metrics_yaml_write(const struct cn_taxonomy *taxonomy, struct cn_text *out);

#endif
