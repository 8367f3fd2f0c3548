#!/usr/bin/env bash
# Brings what a make target needs onto a Debian or Ubuntu machine. A second run finds everything in place and returns.
#
#   tools/setup.sh system   the compiler, CMake and the C++ packages
#   tools/setup.sh torch    the pinned PyTorch wheel, which carries libtorch, in .venv
#   tools/setup.sh oracle   the Python packages that tests and benchmarks compare with, in .venv
#   tools/setup.sh assets   weights, texts and data sets of the tutorial, in .assets
#   tools/setup.sh notebook the interpreter and the packages of the Jupyter kernel, and Jupyter in .venv
#   tools/setup.sh browser  Chromium, in which a notebook is tested
#   tools/setup.sh slurm    a cluster of one machine, for the long tests
#   tools/setup.sh aarch64  a compiler and an emulator for 64-bit ARM, for the long tests
#   tools/setup.sh fuzz     clang and its libFuzzer
#   tools/setup.sh lint     clang-format and clang-tidy, in .venv
set -euo pipefail
cd "$(dirname "$0")/.."

system_packages=(g++ cmake ninja-build ccache pkg-config doctest-dev nlohmann-json3-dev libcli11-dev libyaml-cpp-dev
  libonig-dev libcurl4-openssl-dev libxxhash-dev zlib1g-dev python3 python3-venv tmux strace iproute2 openmpi-bin
  mpich dataset-fashion-mnist)
notebook_packages=(clang-19 libclang-19-dev llvm-19-dev xeus-dev xtl-dev cppzmq-dev libzmq3-dev uuid-dev libssl-dev)
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
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# pip_install <what it is> <stamp> <pip's arguments>. The stamp lies inside .venv, so it goes away together with it.
pip_install() {
  local what=$1 stamp=.venv/.installed-$2
  shift 2
  if [[ -e $stamp ]]; then return; fi
  echo "set-up: fetching $what into .venv"
  if [[ ! -x .venv/bin/pip ]]; then python3 -m venv --clear .venv; fi
  .venv/bin/pip install --quiet --disable-pip-version-check "$@"
  touch "$stamp"
}

content_key() { sha256sum <"$1" | cut -c1-16; }

install_torch() { pip_install "torch $torch_version" "torch-$torch_version" "torch==$torch_version"; }

# After torch, so that accelerate's own requirement on torch is met by the pinned one.
install_oracle() {
  local list=tools/requirements.txt
  pip_install "the Python packages to compare with" "oracle-$(content_key $list)" -r $list
}

install_notebook() {
  local list=tools/requirements-notebook.txt
  install_packages "${notebook_packages[@]}"
  pip_install "Jupyter" "notebook-$(content_key $list)" -c tools/requirements.txt -r $list
}

install_lint() {
  local list=tools/requirements-lint.txt
  pip_install "clang-format and clang-tidy" "lint-$(content_key $list)" -r $list
}

fetch_assets() {
  if [[ ! -x .venv/bin/pip ]]; then python3 -m venv --clear .venv; fi
  .venv/bin/python tools/fetch_assets.py demo
  .venv/bin/python tools/make_demo_data.py
}

for part in "$@"; do
  case $part in
    system) install_packages "${system_packages[@]}" ;;
    slurm) install_packages slurmctld slurmd slurm-client munge ;;
    aarch64) install_packages g++-aarch64-linux-gnu qemu-user ;;
    fuzz) install_packages clang libclang-rt-dev ;;
    lint) install_lint ;;
    notebook) install_notebook ;;
    browser) install_packages chromium ;;
    torch) install_torch ;;
    assets) fetch_assets ;;
    oracle) install_torch && install_oracle ;;
    *) echo "set-up: '$part' is not one of system, torch, oracle, assets, notebook, browser, slurm, aarch64, fuzz, lint" >&2 && exit 2 ;;
  esac
done
