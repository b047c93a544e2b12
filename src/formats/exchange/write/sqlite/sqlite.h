/* SQLite databases: every table with its indexes, and views that join them. Not in builds
 * without the library.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_EXCHANGE_WRITE_SQLITE_SQLITE_H
#define CN_FORMATS_EXCHANGE_WRITE_SQLITE_SQLITE_H

#include "model/format.h"

extern const struct cn_format cn_format_sqlite;

#endif
