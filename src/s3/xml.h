/* The answers of object storage in XML: lists of objects, ids of uploads, reasons of refusals.
 *
 * Internal to s3. Threads: any thread.
 */
#ifndef CN_S3_XML_H
#define CN_S3_XML_H

#include "base/error.h"
#include "base/text.h"
#include "s3/s3.h"

/* The text of an element, wherever it is; empty if there is none. */
CN_CHECK bool cn_s3_xml_find(const struct cn_text *xml, const char *element,
                             struct cn_text *out, struct cn_error *err);

/* Call `visit` for each <Contents> of a list. */
CN_CHECK bool cn_s3_xml_list(const struct cn_text *xml, cn_s3_visit visit, void *arg,
                             struct cn_error *err);

#endif
