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

from kinetix.io.results import named_as_written, write_figures, write_summary, write_tree
from kinetix.report import Picture, comparison_summary, html_report, markdown_report, parameters_csv, summary
from kinetix.results import is_comparison


@contextmanager
def whole_folder(folder: str | os.PathLike[str], *, remove: Collection[str] = ()) -> Iterator[Path]:
    """An empty folder to write to; its files move into `folder` when the block ends well, and vanish when it does not.

    Args:
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
        with named_as_written(stage, target):
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

    A folder is made there and removed again, because permissions do not tell everything (read-only disks, quotas, network shares).

    Raises:
        OSError: it is no folder, or cannot be written to; named as `path` is written.

    >>> with tempfile.TemporaryDirectory() as place:
    ...     writable_place(Path(place, "new", "newer")) == Path(place)
    True
    """
    written = Path(path)
    place = written
    while not os.path.lexists(place) and place != place.parent:
        place = place.parent
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "is a file, and a folder is needed there", str(place))
    try:
        os.rmdir(tempfile.mkdtemp(prefix=".kinetix.", dir=place))
    except OSError as error:
        what = "this folder" if place == written else f"this folder cannot be made, as {place}"
        raise type(error)(error.errno, f"{what} cannot be written to ({error.strerror})", str(written)) from None
    return place.absolute()


def writable_file(path: str | os.PathLike[str]) -> Path:
    """`path` itself, where a file can be written in its place.

    Raises:
        OSError: it is a folder, or its own folder cannot be written to.
    """
    if Path(path).is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, and a file is needed there", str(path))
    writable_place(Path(path).parent)
    return Path(path)


def write_fit(
    tree: xr.DataTree,
    folder: str | os.PathLike[str],
    *,
    entries: Mapping[str, object] | None = None,
    remove: Collection[str] = (),
) -> list[Path]:
    """Write the numbers of a fit as FOLDER/fit.nc and FOLDER/summary.json, both or none.

    Args:
        tree: a result of `kinetix.results.fit_tree`.
        folder: where to; made where it does not exist.
        entries: further entries of summary.json.
        remove: files of an earlier result that go, such as a report that no longer fits.

    Returns:
        The paths.

    Raises:
        OSError: the place cannot be written to.
    """
    with whole_folder(folder, remove=remove) as stage:
        write_tree(tree, stage / "fit.nc")
        write_summary({**summary(tree), **(entries or {})}, stage / "summary.json")
    return [Path(folder, name) for name in ("fit.nc", "summary.json")]


def write_comparison(
    tree: xr.DataTree, fits: Mapping[str, xr.DataTree], folder: str | os.PathLike[str], *, remove: Collection[str] = ()
) -> list[Path]:
    """Write the numbers of a comparison as FOLDER/comparison.nc and FOLDER/summary.json, and those of each fit in a folder of its name.

    Args:
        tree: a result of `kinetix.results.comparison_tree`.
        fits: model -> the result of its fit.
        folder: where to; made where it does not exist.
        remove: files of an earlier result that go, such as a report that no longer fits.

    Returns:
        The paths.

    Raises:
        OSError: the place cannot be written to.
    """
    with whole_folder(folder, remove=remove) as stage:
        write_tree(tree, stage / "comparison.nc")
        write_summary(comparison_summary(tree), stage / "summary.json")
    paths = [Path(folder, name) for name in ("comparison.nc", "summary.json")]
    for name, fit in fits.items():
        paths += write_fit(fit, Path(folder, name))
    return paths


def write_report(tree: xr.DataTree, folder: str | os.PathLike[str], *, remove: Collection[str] = ()) -> list[Path]:
    """Write a fit for readers as FOLDER/report.html, report.md, parameters.csv and a picture per figure, all or none.

    Of a comparison the same without parameters.csv.

    report.html is complete in itself; report.md refers to the pictures.

    Args:
        tree: a result of `kinetix.results.fit_tree`, fresh or read from a file.
        folder: where to; made where it does not exist.
        remove: files of an earlier report that go.

    Returns:
        The paths.

    Raises:
        OSError: the place cannot be written to.

    >>> import kinetix as kx, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "tank.csv").write_text("tau [min],A [mol/L]\\n2,0.51\\n4,0.33\\n8,0.20\\n")
    >>> tank = kx.CSTR(kx.parse_network("A -> B"))
    >>> tree = kx.fit(tank, kx.read_csv(folder / "tank.csv", tank), {"r1.k": "0.1 1/min"}, known={"feed.A": "1 mol/L", "feed.B": "0 mol/L"})
    >>> [path.name for path in kx.write_report(tree, folder / "report")]
    ['report.html', 'report.md', 'parameters.csv', ...]
    """
    from kinetix.plots import caption_of, embedded, figures

    with whole_folder(folder, remove=remove) as stage:
        drawn = figures(tree)
        pictures = [Picture(name, caption_of(figure), *embedded(figure)) for name, figure in drawn.items()]
        (stage / "report.html").write_text(html_report(tree, pictures), encoding="utf-8")
        (stage / "report.md").write_text(markdown_report(tree, pictures), encoding="utf-8")
        tables = [] if is_comparison(tree) else ["parameters.csv"]
        for name in tables:
            (stage / name).write_text(parameters_csv(tree), encoding="utf-8", newline="")
        names = [path.name for path in write_figures(drawn, stage)]
    return [Path(folder, name) for name in ("report.html", "report.md", *tables, *names)]
