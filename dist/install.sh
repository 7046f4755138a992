#!/bin/sh
# Installs kubectl-finalizers from the unpacked archive that this script is in:
#
#   ./install.sh [PREFIX]   the default is ~/.local
#
# PREFIX/bin gets the program, and beside it the program that kubectl asks for completion. PREFIX/share gets the man pages
# and the completion of shells. What is there already is replaced. Nothing is downloaded.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prefix=${1:-$HOME/.local}

# put MODE FROM TO
put() {
  mkdir -p "$(dirname "$prefix/$3")"
  # A running program is not written over: it gets another file.
  rm -f "$prefix/$3"
  cp "$here/$2" "$prefix/$3"
  chmod "$1" "$prefix/$3"
}

put 755 kubectl-finalizers bin/kubectl-finalizers
put 755 kubectl_complete-finalizers bin/kubectl_complete-finalizers
for page in "$here"/man/*.1; do
  name=$(basename "$page")
  put 644 "man/$name" "share/man/man1/$name"
done
put 644 completions/kubectl-finalizers.bash share/bash-completion/completions/kubectl-finalizers
put 644 completions/_kubectl-finalizers share/zsh/site-functions/_kubectl-finalizers
put 644 completions/kubectl-finalizers.fish share/fish/vendor_completions.d/kubectl-finalizers.fish

"$prefix/bin/kubectl-finalizers" --version
case ":$PATH:" in
  *":$prefix/bin:"*) ;;
  *) echo "Add $prefix/bin to PATH, so that kubectl finds the program." >&2 ;;
esac
