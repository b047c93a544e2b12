/* The metrics of an experiment.xml, from its tables to the model's.
 *
 * <MetricDB> lists what threads measured: prop_ids. In 4.0, the <Metric>s called PARTIAL list what
 * the summary holds: stat_ids, how they are combined, and, through the columns that use them, what
 * was summed. In 2.x, the <Metric>s are the summary's values themselves. Ids are read, never
 * computed, but for one bug of hpcprof: see metrics_reader.c.
 * Everything lives in the arena of the database.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_READ_METRICS_READER_H
#define CN_FORMATS_HPCTOOLKIT_XML_READ_METRICS_READER_H

#include "formats/hpctoolkit/xml/read/head_reader.h"
#include "model/contexts/database.h"

/* Positions of the scopes in the model's table. */
enum { CN_HPC_XML_FUNCTION, CN_HPC_XML_EXECUTION, CN_HPC_XML_SCOPE_COUNT };

/* What the name of a metric says: "CPUTIME (sec):PARTIAL:0 (I)". */
struct cn_hpc_xml_metric_name {
    size_t base_len;     /* "CPUTIME (sec)" */
    const char *variant; /* "Sum", or NULL; borrowed, ends at the scope */
    size_t variant_len;
    bool is_partial;
    uint64_t partial; /* its number */
    int scope;        /* of the list above, or CN_NO_ID */
};

void cn_hpc_xml_metric_name_parse(const char *name, const char *type,
                                  struct cn_hpc_xml_metric_name *out);

/* Fill metrics and taxonomy of `db`; oddities become warnings. */
CN_CHECK bool cn_hpc_xml_metrics_read(struct cn_database *db,
                                      const struct cn_hpc_xml_head *head,
                                      struct cn_error *err);

#endif
