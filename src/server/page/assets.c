#include "server/page/assets.h"

/* From assets.S. */
extern const uint8_t cn_asset_page[], cn_asset_page_end[];
extern const uint8_t cn_asset_script[], cn_asset_script_end[];
extern const uint8_t cn_asset_style[], cn_asset_style_end[];
extern const uint8_t cn_asset_engine[], cn_asset_engine_end[];
extern const uint8_t cn_asset_examples[], cn_asset_examples_end[];

const struct cn_asset cn_assets[] = {
    {"/index.html", "text/html; charset=utf-8", cn_asset_page, cn_asset_page_end},
    {"/app.js", "text/javascript; charset=utf-8", cn_asset_script, cn_asset_script_end},
    {"/app.css", "text/css; charset=utf-8", cn_asset_style, cn_asset_style_end},
    {"/cairn.wasm.gz", "application/gzip", cn_asset_engine, cn_asset_engine_end},
    {"/examples.json", "application/json", cn_asset_examples, cn_asset_examples_end},
    {0},
};
