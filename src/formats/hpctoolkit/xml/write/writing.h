/* State shared by the parts of the writer.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_WRITE_WRITING_H
#define CN_FORMATS_HPCTOOLKIT_XML_WRITE_WRITING_H

#include "base/files/out.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/hpctoolkit/entries.h"
#include "formats/hpctoolkit/xml/format.h"
#include "model/contexts/database.h"
#include "model/format.h"

/* XML being written to a file through a buffer, with values escaped.
 *
 * Append with the functions below, and call cn_markup_flush() regularly: it writes when the
 * buffer is large. */

struct cn_markup {
    struct cn_out out;
    struct cn_text text;
    uint64_t replaced_count; /* values with characters that XML does not allow */
};

/* Append ` name="value"`. Invalid UTF-8 and control characters that XML does not allow become
 * U+FFFD. */
void cn_markup_attribute(struct cn_markup *markup, const char *name, const char *value);
void cn_markup_number(struct cn_markup *markup, const char *name, int64_t value);
void cn_markup_address(struct cn_markup *markup, const char *name, uint64_t value);

/* Append without escaping. */
void cn_markup_add(struct cn_markup *markup, const char *text);

CN_CHECK bool cn_markup_flush(struct cn_markup *markup, struct cn_error *err);

/* Write everything and close the file. */
CN_CHECK bool cn_markup_close(struct cn_markup *markup, struct cn_error *err);

/* Release the memory. A file that was not closed is incomplete. */
void cn_markup_done(struct cn_markup *markup);

/* Statistics that the format has names for. */
enum cn_hpc_xml_partial {
    CN_HPC_XML_SUM,
    CN_HPC_XML_COUNT,
    CN_HPC_XML_SQUARES,
    CN_HPC_XML_MIN,
    CN_HPC_XML_MAX,
    CN_HPC_XML_PARTIAL_COUNT,
};

/* A metric: its ids in the model, and after planning those in the files; or CN_NO_ID. */
struct cn_hpc_xml_column {
    const struct cn_metric *metric;
    int32_t thread_id[CN_HPC_XML_SCOPE_COUNT];
    int32_t summary_id[CN_HPC_XML_PARTIAL_COUNT][CN_HPC_XML_SCOPE_COUNT];
};

/* An address outside of all functions, which becomes a procedure. */
struct cn_hpc_xml_address {
    uint32_t module;
    uint64_t offset;
};

struct cn_hpc_xml_writing {
    struct cn_database *db;
    const struct cn_write_options *options;
    const char *dir;
    struct cn_markup markup;

    struct cn_hpc_xml_column *columns; /* one per metric, in the order of ids */
    int32_t *thread_ids, *summary_ids; /* by id in the model: ids in the files */

    struct cn_hpc_xml_address *addresses; /* of <unknown procedure>s */
    size_t address_count, address_capacity;
    struct cn_map address_slots; /* hash of an address -> its index */
    struct cn_names entries;     /* names of unusual entry points */

    uint64_t context_count;
    uint32_t largest_id;
    uint32_t idle_context; /* or 0 */
};

/* Ids of <Procedure>s. */
enum {
    CN_HPC_XML_ENTRY_PROCEDURE = 1, /* of enum cn_entry, in its order */
    CN_HPC_XML_IDLE_PROCEDURE = CN_HPC_XML_ENTRY_PROCEDURE + CN_HPC_ENTRY_COUNT,
    CN_HPC_XML_UNKNOWN_FUNCTION,
    CN_HPC_XML_FIRST_FUNCTION, /* then addresses, then entry points */
};
enum { CN_HPC_XML_FIRST_MODULE = 2 };

/* Choose columns and ids. */
CN_CHECK bool cn_hpc_xml_columns_plan(struct cn_hpc_xml_writing *w, struct cn_error *err);

/* Report the values that the plan drops: counts by id in the model. */
void cn_hpc_xml_columns_lost(const struct cn_hpc_xml_writing *w, const uint64_t *threads,
                             const uint64_t *summaries);

/* <MetricTable> and <MetricDBTable>. */
CN_CHECK bool cn_hpc_xml_columns_write(struct cn_hpc_xml_writing *w,
                                       struct cn_error *err);

/* Walk the tree once: count contexts, find the addresses that become procedures. */
CN_CHECK bool cn_hpc_xml_tree_survey(struct cn_hpc_xml_writing *w, struct cn_error *err);

/* <SecCallPathProfileData>. */
CN_CHECK bool cn_hpc_xml_tree_write(struct cn_hpc_xml_writing *w, struct cn_error *err);

#endif
