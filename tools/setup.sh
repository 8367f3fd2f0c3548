#!/usr/bin/env bash
# Brings what a make target needs onto a Debian or Ubuntu machine. A second run finds everything in place and returns at once.
#
#   tools/setup.sh system   the compiler, CMake and the C++ packages
#   tools/setup.sh torch    the pinned PyTorch wheel, which carries libtorch, in .venv
#   tools/setup.sh oracle   the Python packages that tests and benchmarks compare with, in .venv
#   tools/setup.sh lint     clang-format and clang-tidy
set -euo pipefail
cd "$(dirname "$0")/.."

system_packages=(g++ cmake ninja-build ccache pkg-config doctest-dev nlohmann-json3-dev libcli11-dev python3 python3-venv
  dataset-fashion-mnist)
lint_packages=(clang-format clang-tidy)
torch_version=$(sed -n 's/^set(ACCELERATE_TORCH_VERSION \(.*\))$/\1/p' cmake/AccelerateTorch.cmake)

install_packages() {
  local missing=() package
  if ! command -v apt-get >/dev/null; then
    echo "set-up: this system has no apt-get. Install the counterparts of these Debian packages yourself: $*" >&2
    return
  fi
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == "install ok installed" ]] || missing+=("$package")
  done
  if [[ ${#missing[@]} == 0 ]]; then return; fi

  local as_root=()
  if [[ $(id -u) != 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "set-up: these system packages are missing: ${missing[*]}" >&2
      echo "set-up: there is no sudo here; as root, run: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "set-up: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# A stamp inside .venv says what was installed there, so it goes away together with it.
pip_install() {
  local stamp=.venv/.installed-$1
  shift
  if [[ -e $stamp ]]; then return; fi
  if [[ ! -x .venv/bin/pip ]]; then python3 -m venv --clear .venv; fi
  .venv/bin/pip install --quiet --disable-pip-version-check "$@"
  touch "$stamp"
}

install_torch() {
  [[ -e .venv/.installed-torch-$torch_version ]] || echo "set-up: fetching torch $torch_version into .venv"
  pip_install "torch-$torch_version" "torch==$torch_version"
}

# After torch, so that accelerate's own requirement on torch is met by the pinned one.
install_oracle() {
  local key
  key=$(sha256sum <tools/requirements.txt | cut -c1-16)
  [[ -e .venv/.installed-oracle-$key ]] || echo "set-up: fetching the Python packages to compare with into .venv"
  pip_install "oracle-$key" -r tools/requirements.txt
}

for part in "$@"; do
  case $part in
    system) install_packages "${system_packages[@]}" ;;
    lint) install_packages "${lint_packages[@]}" ;;
    torch) install_torch ;;
    oracle) install_torch && install_oracle ;;
    *) echo "set-up: '$part' is not one of system, torch, oracle, lint" >&2 && exit 2 ;;
  esac
done
