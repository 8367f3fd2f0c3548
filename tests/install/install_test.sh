#!/usr/bin/env bash
# One way of using the library from outside: install_test.sh <way> <clone> <build directory>. `prefix` installs, and
# `find_package` and `pkg_config` use what it left; every way builds examples/consumer in its own directory and runs it.
set -euo pipefail
way=$1 clone=$2 build=$3
area=$build/tests/install
work=$area/$way
rm -rf "$work"
mkdir -p "$work"

fail() { echo "install_test: $*" >&2 && exit 1; }

# Nothing of the clone may be needed at run time: neither the libraries found nor the search paths may lie in it.
outside_of_clone() {
  local file
  for file in "$@"; do
    if ldd "$file" | grep -e "=> $clone/" -e 'not found'; then fail "$file needs a library of the clone or misses one"; fi
    if readelf -d "$file" | grep -E 'R(UN)?PATH' | grep "$clone"; then fail "$file has a search path into the clone"; fi
  done
}

runs() { "$@" | tee /dev/stderr | grep -q '^final loss: ' || fail "$* did not train"; }

configure_consumer() {
  cmake -S "$clone/examples/consumer" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "$@"
}

build_consumer() {
  configure_consumer "$@"
  cmake --build "$work/build"
}

case $way in
  prefix)
    # Installed in one place and moved to another, which also shows that nothing depends on where it was.
    if [[ -e $area/moved_to ]]; then rm -rf "$(dirname "$(cat "$area/moved_to")")"; fi
    cmake --install "$build" --prefix "$work/first" >"$work/files.txt"
    moved=$(mktemp -d)/accelerate
    mv "$work/first" "$moved"
    echo "$moved" >"$area/moved_to"
    if grep -rIlF "$clone" "$moved" --include='*.cmake' --include='*.pc'; then fail "these files name the clone"; fi
    outside_of_clone "$moved/lib/libaccelerate.so" "$moved/lib/libtransformers.so" "$moved/bin/accelerate"
    "$moved/bin/accelerate" --help >/dev/null
    ;;
  command)
    # What the command needs beside itself is found where the installation is now.
    moved=$(cat "$area/moved_to")
    export HF_HOME=$work/no_configuration
    for link in accelerate-config accelerate-estimate-memory accelerate-launch accelerate-merge-weights; do
      [[ $(readlink "$moved/bin/$link") == accelerate ]] || fail "$link is not a link to the command beside it"
      [[ $("$moved/bin/$link" --help) == *"${link/-/ }"* ]] || fail "$link is not the command of its name"
    done
    for page in accelerate accelerate-launch accelerate-test; do
      grep -q '^\.TH' "$moved/share/man/man1/$page.1" || fail "the manual page $page.1 is missing"
    done
    grep -qF '{prefix}' "$moved/lib/accelerate/program.json" || fail "program.json does not move with the installation"
    outside_of_clone "$moved/libexec/accelerate/accelerate-conformance"
    "$moved/bin/accelerate" test --num_processes 2
    if [[ -n ${ACCELERATE_TEST_FULL:-} ]]; then
      XDG_CACHE_HOME=$work/cache runs "$moved/bin/accelerate" launch -n 2 "$clone/examples/consumer/train.cpp"
    else
      echo "short form: 'make test-full' also compiles a C++ file with the installed command"
    fi
    ;;
  notebook)
    # The kernel of the installed library, as Jupyter finds it in an environment, computes with the library's headers.
    moved=$(cat "$area/moved_to")
    outside_of_clone "$moved/libexec/accelerate/accelerate-cells" "$moved/libexec/accelerate/accelerate-kernel"
    "$moved/bin/accelerate" notebook install --prefix "$work/env"
    export JUPYTER_PATH=$work/env/share/jupyter JUPYTER_PLATFORM_DIRS=1 PYTHONPATH=$clone/tests/notebook
    "$clone/.venv/bin/python" - <<'END'
from kernel_client import Kernel

with Kernel() as kernel:
    outcome = kernel.run("accelerate::notebook_launcher([] { return accelerate::PartialState().process_index(); }, "
                         "{.num_processes = 2})")
assert outcome.result == {"text/plain": "{0, 1}"}, outcome.error + outcome.traceback
END
    ;;
  find_package)
    moved=$(cat "$area/moved_to")
    # The least that CMake accepts, with its policies of long ago: libtorch is linked all the same.
    mkdir "$work/bare"
    printf '%s\n' 'find_package(accelerate CONFIG REQUIRED)' 'add_executable(bare bare.cpp)' \
      'target_link_libraries(bare PRIVATE accelerate::accelerate)' >"$work/bare/CMakeLists.txt"
    printf '%s\n' '#include <c10/core/Device.h>' 'int main() { return c10::Device("cpu").is_cpu() ? 0 : 1; }' >"$work/bare/bare.cpp"
    cmake -Wno-dev -S "$work/bare" -B "$work/bare/build" -G Ninja -DCMAKE_PREFIX_PATH="$moved"
    cmake --build "$work/bare/build"
    "$work/bare/build/bare"
    build_consumer -DCMAKE_PREFIX_PATH="$moved"
    outside_of_clone "$work/build/train"
    runs "$work/build/train"
    runs "$moved/bin/accelerate" launch --num_processes 2 "$work/build/train"
    ;;
  pkg_config)
    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH=$(cat "$area/moved_to")/lib/pkgconfig
    # shellcheck disable=SC2046
    g++ "$clone/examples/consumer/train.cpp" -o "$work/train" $(pkg-config --cflags --libs accelerate)
    outside_of_clone "$work/train"
    runs "$work/train"
    printf '%s\n' '#include <transformers/transformers.h>' '#include <cstdio>' \
      'int main() { std::puts(transformers::PretrainedConfig().to_json().c_str()); }' >"$work/config.cpp"
    # shellcheck disable=SC2046
    g++ "$work/config.cpp" -o "$work/config" $(pkg-config --cflags --libs accelerate-transformers)
    outside_of_clone "$work/config"
    [[ $("$work/config") == '{}' ]] || fail "a program with the transformers library did not run"
    ;;
  docs)
    # The code on the pages, in a project outside of the clone. Paths are relative to the directory above both, so that the
    # compiler cache of the clone knows files that have not changed since.
    moved=$(cat "$area/moved_to")
    project=$(mktemp -d "$(dirname "$moved")/documents.XXXX")
    python3 "$clone/tests/docs/write_project.py" "$clone" "$project"
    export CCACHE_DIR=$clone/.ccache CCACHE_BASEDIR=$(dirname "$moved") CCACHE_NOHASHDIR=1
    launcher=$(command -v ccache || true)
    cmake -S "$project" -B "$project/build" -G Ninja -DCMAKE_PREFIX_PATH="$moved" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher"
    cmake --build "$project/build"
    for page in "$project"/*/CMakeLists.txt; do  # each a project of its own, exactly as it is printed
      page=$(dirname "$page")
      cmake -S "$page" -B "$project/build/$(basename "$page")" -G Ninja -DCMAKE_PREFIX_PATH="$moved" \
        -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher"
      cmake --build "$project/build/$(basename "$page")"
    done
    python3 "$clone/tests/docs/run_programs.py" "$project" "$project/build" "$moved/bin/accelerate" "$clone/.assets"
    rm -rf "$project"
    ;;
  language)
    # Below C++20 the first thing one reads is what to do, whichever way the library was included.
    moved=$(cat "$area/moved_to")
    read -ra flags <<<"$(PKG_CONFIG_PATH=$moved/lib/pkgconfig pkg-config --cflags accelerate)"
    for header in accelerate/accelerate.h accelerate/accelerator.h accelerate/data/data_loader.h transformers/transformers.h; do
      said=$(echo "#include <$header>" | g++ "${flags[@]}" -std=c++17 -fsyntax-only -x c++ - 2>&1 || true)
      [[ $(grep -m1 error <<<"$said") == *'accelerate needs C++20: compile with -std=c++20'* ]] || fail "$header: $said"
      [[ $(grep -c error <<<"$said") -le 3 ]] || fail "$header: more is said than the one sentence: $said"
    done
    ;;
  clean_up)
    rm -rf "$(dirname "$(cat "$area/moved_to")")" "$area/moved_to"
    ;;
  add_subdirectory | FetchContent)
    options=(-DACCELERATE_FROM="$way" -DACCELERATE_CLONE="$clone" -DACCELERATE_WARNINGS_AS_ERRORS=ON)
    if [[ -z ${ACCELERATE_TEST_FULL:-} ]]; then
      configure_consumer "${options[@]}"
      echo "short form: configured, not built; 'make test-full' compiles the whole library again and runs the program"
    else
      build_consumer "${options[@]}"
      runs "$work/build/train"
    fi
    ;;
  torch_version)
    # Another version of libtorch is refused with its number, its place and the remedy; a CUDA build of the pinned one
    # is not.
    package=$work/torch/share/cmake/Torch
    mkdir -p "$package"
    echo 'set(TORCH_INSTALL_PREFIX /opt/torch)' >"$package/TorchConfig.cmake"
    configure() {
      printf 'set(PACKAGE_VERSION %s)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n' "$1" >"$package/TorchConfigVersion.cmake"
      rm -rf "$work/build"
      cmake -S "$clone" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/torch" 2>&1 | tr -s ' \n' ' '
    }
    refusal=$(configure 2.12.1 || true)
    for part in 'libtorch 2.12.1 was found at /opt/torch' 'needs exactly 2.13.0' 'CMAKE_PREFIX_PATH'; do
      [[ $refusal == *"$part"* ]] || fail "the refusal of another version lacks '$part': $refusal"
    done
    [[ $(configure 2.13.0+cu130 || true) != *'needs exactly'* ]] || fail "a CUDA build of the pinned one was refused"
    ;;
  *) fail "'$way' is not a way of using the library" ;;
esac
rm -rf "$work"  # a build of the library weighs a gigabyte
