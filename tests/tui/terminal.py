"""A terminal for tests, which is tmux."""
import os
import subprocess

PATIENCE_S = 60
STATE = "#{alternate_on} #{mouse_any_flag} #{cursor_flag}"


class Terminal:
    """A shell in a window of tmux, with a socket of its own."""

    def __init__(self, folder, columns=80, rows=24, **env):
        self.socket = os.path.join(folder, "tmux")
        self.env = {
            "PATH": os.environ["PATH"], "HOME": folder, "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8", "PS1": "$ ", "XDG_CACHE_HOME": os.path.join(folder, "cache"),
            "ASAN_OPTIONS": "exitcode=99",
            **env,
        }
        words = [f"{key}={value}" for key, value in self.env.items()]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
                  "-c", folder, "env", "-i", *words, "sh")

    def tmux(self, *words):
        outside = {**os.environ, "LC_ALL": "C.UTF-8"}
        outside.pop("TMUX", None)
        return subprocess.run(["tmux", "-S", self.socket, *words], env=outside, text=True,
                              capture_output=True, timeout=PATIENCE_S, check=False).stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")

    def screen(self):
        return self.tmux("capture-pane", "-p").split("\n")

    def state(self):
        return self.tmux("display-message", "-p", STATE).strip()

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def mouse(self, column, row, times=1):
        """Presses of the first button; both count from 1."""
        text = f"\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m" * times
        self.tmux("send-keys", "-H", *(f"{ord(c):x}" for c in text))

    def child(self):
        """The process that the shell runs."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        found = subprocess.run(["pgrep", "-P", shell, "cairn"], capture_output=True, text=True,
                               check=False).stdout.split()
        return int(found[0]) if found else None
