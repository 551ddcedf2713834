"""Results to files and back: netCDF, `summary.json`, pictures. A file is written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from kinetix.errors import DataError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_tree(tree: xr.DataTree, path: str | os.PathLike[str]) -> Path:
    """Write a result as netCDF-4; `read_tree` gives an identical tree back.

    Args:
        tree: a result, for example of `kinetix.results.fit_tree`.
        path: the file; its folder is made where it does not exist, and an older file is replaced only when the new one is complete.

    Returns:
        The path of the file.

    Raises:
        OSError: the place cannot be written to.
    """
    with whole_file(path) as partial:
        tree.to_netcdf(partial, engine="h5netcdf")
    return Path(path)


def read_tree(path: str | os.PathLike[str]) -> xr.DataTree:
    """Read a result that `write_tree` wrote, whole into memory; the file is closed again.

    Raises:
        DataError: the file does not exist or is no netCDF-4 file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_tree(xr.DataTree.from_dict({"/": xr.Dataset(attrs={"title": "tank"})}), Path(folder, "fit.nc"))
    ...     read_tree(path).attrs["title"]
    'tank'
    """
    if not Path(path).is_file():
        raise DataError(f"{path} does not exist: expected a result file, for example fit.nc in the folder given to --out.")
    try:
        with xr.open_datatree(path, engine="h5netcdf", decode_times=False) as tree:
            return tree.load()
    except OSError as error:
        raise DataError(f"{path} is no netCDF-4 file ({error}): expected a result file that kinetix wrote.") from error


def write_summary(summary: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write `kinetix.report.summary` of a result as JSON (UTF-8, two spaces, no NaN).

    Raises:
        OSError: the place cannot be written to.
    """
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    with whole_file(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return Path(path)


def write_figures(figures: Mapping[str, Figure], folder: str | os.PathLike[str], *, suffix: str = "png", dpi: float = 150) -> list[Path]:
    """Write pictures as FOLDER/NAME.SUFFIX, one file each.

    Args:
        figures: name -> figure, as `kinetix.plots.figures` gives them.
        folder: where to; made where it does not exist.
        suffix: a format that matplotlib writes: png, pdf, svg.
        dpi: dots per inch of bitmaps.

    Returns:
        The paths, in the order of `figures`.

    Raises:
        OSError: the place cannot be written to.
    """
    paths = [Path(folder) / f"{name}.{suffix}" for name in figures]
    for figure, path in zip(figures.values(), paths, strict=True):
        with whole_file(path) as partial:
            figure.savefig(partial, format=suffix, dpi=dpi)
    return paths


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path beside `path` to write to; it takes the place of `path` when the block ends well, and vanishes when it does not.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "a.txt") as partial:
    ...     _ = partial.write_text("all of it")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with named_as_written(partial, target):
            yield partial
            os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def named_as_written(temporary: Path, target: Path) -> Iterator[None]:
    """An `OSError` about a file that stands in for another until it is complete names that other one.

    >>> with named_as_written(Path(".fit.nc.part"), Path("fit.nc")):
    ...     raise PermissionError(13, "Permission denied", ".fit.nc.part")
    Traceback (most recent call last):
    PermissionError: [Errno 13] Permission denied: 'fit.nc'
    """
    try:
        yield
    except OSError as error:
        if str(temporary) not in str(error):
            raise
        told = [str(part or "").replace(str(temporary), str(target)) for part in (error.strerror, error.filename)]
        raise type(error)(error.errno, told[0] or str(error).replace(str(temporary), str(target)), told[1] or str(target)) from error
