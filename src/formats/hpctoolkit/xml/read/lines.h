/* The values of lines that make calls, computed while planes are read; see database.h.
 *
 * Between batches only the position is stored, in the cursor. Reading a plane takes time in
 * proportion to its values and, if these are many, to the lines that call.
 * Threads: any thread, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_READ_LINES_H
#define CN_FORMATS_HPCTOOLKIT_XML_READ_LINES_H

#include "formats/hpctoolkit/xml/read/database.h"

/* Find the lines of the tree that call, and the metrics with inclusive costs. */
void cn_hpc_xml_lines_find(struct cn_hpc_xml_database *xml);

/* True if the range of the cursor contains such a line. */
bool cn_hpc_xml_lines_concern(const struct cn_hpc_xml_database *xml,
                              const struct cn_value_cursor *cursor);

/* For cursors of which cn_hpc_xml_lines_concern() is true. */
void cn_hpc_xml_lines_begin(struct cn_value_cursor *cursor);
CN_CHECK enum cn_step cn_hpc_xml_lines_next(struct cn_hpc_xml_database *xml,
                                            struct cn_value_cursor *cursor,
                                            struct cn_value_batch *out,
                                            struct cn_error *err);

#endif
