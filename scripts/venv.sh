# Sourced by the other scripts: makes .venv at the root of the repository when there is none, and keeps it up to date.
# use_venv NAME EXTRAS: the stamp .venv/.nardy-NAME says from which files the extras of pyproject.toml were installed.
# NARDY_EXTRAS in the environment adds more of them, such as NARDY_EXTRAS=peers. The commands get NARDY_COMMAND: how they
# were called, which they repeat where they say how to go on.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$root/.venv

use_venv() {
  local extras=$2${NARDY_EXTRAS:+,$NARDY_EXTRAS}
  has_extras "$1" "$extras" || install_extras "$1" "$extras" >&2
}

# What the tests need includes what the commands need, so their stamp counts too.
has_extras() {
  [[ $(read_stamp "$1") == "$(venv_state) $2" ]] ||
    [[ -z ${NARDY_EXTRAS:-} && $(read_stamp test) == "$(venv_state) "* ]]
}

read_stamp() {
  cat -- "$venv/.nardy-$1" 2>/dev/null || true
}

venv_state() {
  echo "$root $(cat -- "$root/pyproject.toml" "$root/scripts/constraints.txt" | cksum)"
}

install_extras() (
  set -euo pipefail
  mkdir -p -- "$venv"
  exec 9>"$venv/.lock"
  python=$(find_python)
  # The lock belongs to the open file, so it outlives this Python and ends with the subshell, however that ends.
  "$python" -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)'
  if has_extras "$1" "$2"; then
    exit 0 # another process did it while this one waited
  fi
  echo "nardy: setting up $venv (once; a minute or a few) ..."
  "$venv/bin/python" -m pip --version >/dev/null 2>&1 9>&- || "$python" -m venv "$venv" 9>&-
  rm -f -- "$venv/.nardy-$1"
  "$venv/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check \
    --constraint "$root/scripts/constraints.txt" --editable "$root[$2]" 9>&-
  echo "$(venv_state) $2" >"$venv/.nardy-$1.new"
  mv -f -- "$venv/.nardy-$1.new" "$venv/.nardy-$1"
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
