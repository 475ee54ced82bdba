# Sourced by the other scripts: makes .venv at the root of the repository when there is none, and keeps it up to date.
# use_venv NAME EXTRAS: what the stamp NAME stands for, and the extras of pyproject.toml that it installs.
# NARDY_EXTRAS in the environment adds more of them, such as NARDY_EXTRAS=peers.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$root/.venv

use_venv() {
  local extras=$2${NARDY_EXTRAS:+,$NARDY_EXTRAS}
  local stamp=$venv/.nardy-$1
  local wanted
  wanted="$extras $root $(cat -- "$root/pyproject.toml" "$root/scripts/constraints.txt" | cksum)"
  [[ -f $stamp && $(<"$stamp") == "$wanted" ]] || install_extras "$extras" "$stamp" "$wanted" >&2
}

install_extras() (
  set -euo pipefail
  mkdir -p -- "$venv"
  exec 9>"$venv/.lock"
  python=$(find_python)
  # The lock belongs to the open file, so it outlives this Python and ends with the subshell, however that ends.
  "$python" -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)'
  if [[ -f $2 && $(<"$2") == "$3" ]]; then
    exit 0 # another process did it while this one waited
  fi
  echo "nardy: setting up $venv (once; a minute or a few) ..."
  "$venv/bin/python" -m pip --version >/dev/null 2>&1 9>&- || "$python" -m venv "$venv" 9>&-
  rm -f -- "$2"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --constraint "$root/scripts/constraints.txt" --editable "$root[$1]" 9>&-
  printf '%s\n' "$3" >"$2.new"
  mv -f -- "$2.new" "$2"
)

find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3.11 python3 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "nardy: needs Python 3.11 or newer on PATH, or its path in PYTHON" >&2
  return 1
}
