/* Databases that importers make of bytes, and what is in them. Fails the test that asks.
 */
#ifndef CN_TEST_IMPORTED_H
#define CN_TEST_IMPORTED_H

#include "formats/exchange/read/stacks/import.h"
#include "model/contexts/database.h"

struct cn_database *cn_imported(cn_import_fn read, struct cn_bytes bytes);

/* The total value of the context with this path, "main;f", summed over threads. */
double cn_imported_value(struct cn_database *db, const char *path, uint32_t metric);

/* True if a warning says that data is missing. */
bool cn_imported_is_damaged(const struct cn_database *db);

#endif
