/* The metrics of an experiment.xml, from its tables to the model's.
 *
 * <MetricDB> lists what threads measured: prop_ids. In 4.0, the <Metric>s called PARTIAL list
 * the statistics of the summary: stat_ids and how they are combined; what was summed follows from
 * the columns that use them. In 2.x, the <Metric>s are the values of the summary themselves. Ids are
 * those of the file, except for one bug of hpcprof: see metrics_reader.c.
 * Everything lives in the arena of the database.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_READ_METRICS_READER_H
#define CN_FORMATS_HPCTOOLKIT_XML_READ_METRICS_READER_H

#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/read/head_reader.h"
#include "model/contexts/database.h"

/* The parts of a metric's name: "CPUTIME (sec):PARTIAL:0 (I)". */
struct cn_hpc_xml_metric_name {
    size_t base_len;     /* "CPUTIME (sec)" */
    const char *variant; /* "Sum", or NULL; borrowed, ends at the scope */
    size_t variant_len;
    bool is_partial;
    uint64_t partial; /* the number after PARTIAL */
    int scope;        /* CN_HPC_XML_FUNCTION, _EXECUTION or CN_NO_ID */
};

void cn_hpc_xml_metric_name_parse(const char *name, const char *type,
                                  struct cn_hpc_xml_metric_name *out);

/* Set metrics and taxonomy of `db`. Metrics that cannot be used become warnings. */
CN_CHECK bool cn_hpc_xml_metrics_read(struct cn_database *db,
                                      const struct cn_hpc_xml_head *head,
                                      struct cn_error *err);

#endif
