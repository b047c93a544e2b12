# The include rules hold for the source tree.
exec "$CAIRN_SOURCE/tools/check_layers"
