# Limits that documents state are those of the sources; measured figures have a date.
exec "$CAIRN_SOURCE/tests/tree/limits"
