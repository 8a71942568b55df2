#!/usr/bin/env bash
# Installs what is missing to build and test planegate: Debian 12, Ubuntu 24.04. Nothing else is
# touched; does nothing where all packages are there.
set -euo pipefail

packages=(g++ cmake ninja-build libgtest-dev libgmock-dev librapidcheck-dev libeigen3-dev
          libfmt-dev libcli11-dev nlohmann-json3-dev libboost-context-dev libbenchmark-dev
          libssl-dev)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2> /dev/null | grep -q 'ok installed' ||
    missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
  "${missing[@]}" > /dev/null
