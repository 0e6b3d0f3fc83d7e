"""Mutators that something still gets through with: their names shrink to nothing as the reader learns them."""

from __future__ import annotations

from reflexd.shell.options import names

OPEN = names(
    "alias-listed apt-option arithmetic-for arithmetic-index arithmetic-integer arithmetic-slice"
    " arithmetic-test arithmetic-test-variable arithmetic-variable arithmetic-variable-expansion"
    " awk-argument awk-environment awk-getline awk-input awk-pipe awk-variable base32 base64"
    " base64-document base64-input base64-openssl base64-openssl-enc base64-source base64-string"
    " base64-variable base64-wrapped catchsegv cmake copy crontab dc dd-then-run ed ed-piped emacs"
    " empty-backquotes empty-substitution entr erlang escape-inside expect file-opened-eval file-then-find"
    " file-then-pattern file-then-substituted gcc-wrapper gdb gdb-bang git-alias-environment git-ext"
    " git-grep git-upload-pack gnuplot guile haskell hex hyperfine install-then-run ip-netns"
    " line-separators loader m4 make-fed make-inline makefile-eval mapfile-callback name-array-joined"
    " name-in-file-opened next-line ninja node-argument node-base64 node-destructured node-eval"
    " node-variable npm-exec octave perl-argument perl-environment perl-eval perl-lines perl-module"
    " perl-open perl-pack perl-pipe-open perl-variable prefix-bwrap prefix-choom prefix-setarch"
    " prefix-some-wrapper process-substitution-startup python-exit python-map python-module python-process"
    " python-spawn python-thread python-timeit reversed rg-pre rot13 ruby-open3 ruby-percent ruby-send"
    " ruby-words sbcl sed-file sed-pattern-flag sed-pattern-space sed-write-then-run shell-environment"
    " socat socat-system sort-compress source-descriptor split-filter ssh-agent subscript-declare"
    " subscript-indirect subscript-is-set subscript-reference subscript-unset subscript-variable swipl tcl"
    " tr-deleted tr-translated upper-lowered vim-colon vim-plus vim-system words-brace-nested"
    " words-read-array xargs-name xargs-words-file xargs-zero zip-test"
)
