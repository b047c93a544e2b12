/* The formats of databases with an experiment.xml: 4.0, which is read and written, and 2.x,
 * which is read.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_XML_H
#define CN_FORMATS_HPCTOOLKIT_XML_XML_H

#include "model/format.h"

extern const struct cn_format cn_format_hpctoolkit_xml;
extern const struct cn_format cn_format_hpctoolkit_xml_legacy;

#endif
