"""The browser of web/e2e/harness.mjs."""
import os

BROWSERS = ("/usr/bin/chromium-headless-shell", "/usr/bin/chromium")


def has_browser():
    chosen = os.environ.get("CHROMIUM")
    return any(map(os.path.exists, [chosen] if chosen else BROWSERS))
