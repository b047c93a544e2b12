/* What the parts of the writer share: the job, and the numbers things get in the file.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_WRITE_WRITING_H
#define CN_FORMATS_HPCTOOLKIT_XML_WRITE_WRITING_H

#include "base/map.h"
#include "formats/hpctoolkit/xml/write/markup.h"
#include "model/contexts/database.h"
#include "model/format.h"

/* Statistics that the format has names for. */
enum cn_hpc_xml_partial {
    CN_HPC_XML_SUM,
    CN_HPC_XML_COUNT,
    CN_HPC_XML_SQUARES,
    CN_HPC_XML_MIN,
    CN_HPC_XML_MAX,
    CN_HPC_XML_PARTIAL_COUNT,
};

/* Exclusive and inclusive: the scopes that the format has. */
enum { CN_HPC_XML_WRITE_FUNCTION, CN_HPC_XML_WRITE_EXECUTION, CN_HPC_XML_WRITE_SCOPES };

/* A metric of the model: its ids in the model, and then in the files; CN_NO_ID: not there. */
struct cn_hpc_xml_column {
    const struct cn_metric *metric;
    int32_t thread_id[CN_HPC_XML_WRITE_SCOPES];
    int32_t summary_id[CN_HPC_XML_PARTIAL_COUNT][CN_HPC_XML_WRITE_SCOPES];
};

/* A procedure that stands for an address in no function. */
struct cn_hpc_xml_address {
    uint32_t module;
    uint64_t offset;
};

struct cn_hpc_xml_writing {
    struct cn_database *db;
    const struct cn_write_options *options;
    const char *dir;
    struct cn_markup markup;

    struct cn_hpc_xml_column *columns; /* one a metric, in the order of ids */
    int32_t *thread_ids, *summary_ids; /* of all ids of the model: ids in the files */

    struct cn_hpc_xml_address *addresses; /* of <unknown procedure>s */
    size_t address_count, address_capacity;
    struct cn_map address_numbers; /* hash of an address -> the first with it */
    struct cn_names entries;       /* names of entry points that are not the usual ones */

    uint64_t context_count;
    uint32_t largest_id;
    uint32_t idle_context; /* or 0 */
};

/* Numbers of <Procedure>s. */
enum {
    CN_HPC_XML_PARTIAL_PROCEDURE = 1,
    CN_HPC_XML_PROGRAM_PROCEDURE,
    CN_HPC_XML_THREAD_PROCEDURE,
    CN_HPC_XML_IDLE_PROCEDURE,
    CN_HPC_XML_UNKNOWN_FUNCTION,
    CN_HPC_XML_FIRST_FUNCTION, /* then addresses, then entry points */
};
enum { CN_HPC_XML_FIRST_MODULE = 2 };

/* The number of the <unknown procedure> at an address; it must have been added. */
uint32_t cn_hpc_xml_address_add(struct cn_hpc_xml_writing *w, uint32_t module,
                                uint64_t offset);

/* Choose columns and ids. */
CN_CHECK bool cn_hpc_xml_columns_plan(struct cn_hpc_xml_writing *w, struct cn_error *err);

/* What the values dropped by the plan were: counts by id of the model. */
void cn_hpc_xml_columns_lost(const struct cn_hpc_xml_writing *w, const uint64_t *threads,
                             const uint64_t *summaries);

/* <MetricTable> and <MetricDBTable>. */
CN_CHECK bool cn_hpc_xml_columns_write(struct cn_hpc_xml_writing *w,
                                       struct cn_error *err);

/* The other tables. */
CN_CHECK bool cn_hpc_xml_tables_write(struct cn_hpc_xml_writing *w, struct cn_error *err);

/* Walk the tree once to count contexts and find the addresses that need a procedure. */
CN_CHECK bool cn_hpc_xml_tree_survey(struct cn_hpc_xml_writing *w, struct cn_error *err);

/* <SecCallPathProfileData>. */
CN_CHECK bool cn_hpc_xml_tree_write(struct cn_hpc_xml_writing *w, struct cn_error *err);

#endif
