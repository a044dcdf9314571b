"""Write layouts while they are made: hand them over one by one instead of as one iterable.

```python
with writing(Path("coco.json"), "coco", labels=model.labels) as add:
    for result in model.stream(spec, range(100_000)):
        add(result.layout)
```

The writers take an iterable and draw from it. Here each runs in a thread of its own and draws from
a short queue, so any of them can be fed from one loop, and none holds more than the queue.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from layoutdm.formats import write
from layoutdm.layout import Layout

WAITING = 256  # layouts on their way to a writer
PATIENCE = 0.1  # seconds between looks at a writer that takes nothing


class _StoppedError(Exception):
    """The loop that makes the layouts ended with an error: nothing is to be finished."""


class _Writer(threading.Thread):
    """One writer at work. Its error is kept and raised where the layouts are handed over."""

    def __init__(self, path: Path, format: str, options: dict[str, Any]) -> None:
        super().__init__(daemon=True, name=f"writing {path.name}")
        self.path, self.format, self.options = path, format, options
        self.waiting: queue.Queue[Layout | _StoppedError | None] = queue.Queue(WAITING)
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            write(self._layouts(), self.path, self.format, **self.options)
        except BaseException as error:  # handed over to the other thread, whatever it is
            self.error = error

    def _layouts(self) -> Iterator[Layout]:
        while (item := self.waiting.get()) is not None:
            if isinstance(item, _StoppedError):
                raise item
            yield item

    def put(self, item: Layout | _StoppedError | None) -> None:
        """Wait for a free place, but not for a writer that has given up."""
        while self.is_alive():
            try:
                return self.waiting.put(item, timeout=PATIENCE)
            except queue.Full:
                continue
        if self.error is not None and not isinstance(self.error, _StoppedError):
            raise self.error


@contextmanager
def writing(path: Path, format: str, **options: Any) -> Iterator[Callable[[Layout], None]]:
    """Gives a function that adds one layout. The file appears when the block ends well."""
    writer = _Writer(path, format, options)
    writer.start()
    try:
        yield writer.put
    except BaseException:
        if writer.is_alive():
            writer.put(_StoppedError())
        writer.join()
        raise
    writer.put(None)
    writer.join()
    if writer.error is not None:
        raise writer.error
