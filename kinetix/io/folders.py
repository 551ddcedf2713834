"""The folder of a result: all of its files appear together, or none."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import xarray as xr

from kinetix.io.results import write_summary, write_tree
from kinetix.report import summary, text_report


@contextmanager
def whole_folder(folder: str | os.PathLike[str], *, remove: Collection[str] = ()) -> Iterator[Path]:
    """An empty folder to write to; its files move into `folder` when the block ends well, and vanish when it does not.

    Arguments:
        folder: made where it does not exist; files of the same names in it are replaced, all others stay.
        remove: names of files of an earlier result that go when the new ones come.

    Raises:
        OSError: the place cannot be written to.

    >>> place = tempfile.TemporaryDirectory()
    >>> with whole_folder(Path(place.name, "out")) as stage:
    ...     _ = (stage / "a.txt").write_text("all of it")
    >>> [path.name for path in Path(place.name, "out").iterdir()], [path.name for path in Path(place.name).iterdir()]
    (['a.txt'], ['out'])
    >>> place.cleanup()
    """
    target = Path(folder)
    stage = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=writable_place(target)))
    try:
        yield stage
        target.mkdir(parents=True, exist_ok=True)
        for name in remove:
            (target / name).unlink(missing_ok=True)
        for path in sorted(stage.iterdir()):
            os.replace(path, target / path.name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def writable_place(path: str | os.PathLike[str]) -> Path:
    """The folder that exists and that something is written to when `path` is: `path` itself, or the nearest one above it.

    Raises:
        OSError: it is no folder, or cannot be written to.

    >>> with tempfile.TemporaryDirectory() as place:
    ...     writable_place(Path(place, "new", "newer")) == Path(place)
    True
    """
    target = Path(path).absolute()
    place = target if target.exists() else target.parent
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "is a file, and a folder is needed there", str(place))
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "this folder cannot be written to", str(place))
    return place


def write_fit(
    tree: xr.DataTree,
    folder: str | os.PathLike[str],
    *,
    entries: Mapping[str, object] | None = None,
    appendix: str = "",
    remove: Collection[str] = (),
) -> list[Path]:
    """Write a fit as FOLDER/fit.nc, FOLDER/summary.json and FOLDER/report.txt, all three or none.

    Arguments:
        tree: a result of `kinetix.results.fit_tree`.
        folder: where to; made where it does not exist.
        entries: further entries of summary.json.
        appendix: what stands below the report in report.txt.
        remove: files of an earlier result that go, such as figures that no longer fit.

    Returns:
        The paths.

    Raises:
        OSError: the place cannot be written to.
    """
    with whole_folder(folder, remove=remove) as stage:
        write_tree(tree, stage / "fit.nc")
        write_summary({**summary(tree), **(entries or {})}, stage / "summary.json")
        (stage / "report.txt").write_text(text_report(tree) + appendix, encoding="utf-8")
    return [Path(folder, name) for name in ("fit.nc", "summary.json", "report.txt")]
