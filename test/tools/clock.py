"""A clock for the sidecar that stands still until a test moves it: minutes pass at once,
and nothing passes while nobody says so (test/proxy/move_clock.c)."""
import mmap
import os
import tempfile
import time

MODULE = os.environ.get("BIDE_MOVE_CLOCK", "")


class Clock:
    def __init__(self):
        self.file = tempfile.NamedTemporaryFile(prefix="bide-clock-")
        self.file.write(bytes(mmap.PAGESIZE))
        self.file.flush()
        self.at = mmap.mmap(self.file.fileno(), mmap.PAGESIZE)
        self.ns = time.monotonic_ns()
        self.move(0)

    def move(self, seconds):
        self.ns += round(seconds * 1e9)
        self.at[:8] = self.ns.to_bytes(8, "little")

    def run(self):
        """From here on it goes as any other, so that what waits for it ends."""
        self.at[8:16] = time.monotonic_ns().to_bytes(8, "little")

    @property
    def popen(self):
        """For `proxied` and `attacked`."""
        return {"environment": {"LD_PRELOAD": MODULE,
                                "BIDE_TEST_CLOCK": self.file.name}}

    def close(self):
        self.at.close()
        self.file.close()
