/* A database of SQLite as a format: every table with its indexes, and views that join
 * them. Only where the library was there when cairn was built.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_EXCHANGE_SQLITE_SQLITE_H
#define CN_FORMATS_EXCHANGE_SQLITE_SQLITE_H

#include "model/format.h"

extern const struct cn_format cn_format_sqlite;

#endif
