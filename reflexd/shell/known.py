"""Names of programs that matter before it is known what they do."""

from __future__ import annotations

from reflexd.shell.options import names

SHELLS = names("ash bash csh dash fish ksh mksh rbash sh tcsh zsh")

DOWNLOADERS = names("aria2c curl fetch http https nc ncat socat wget xh")

BUILTINS = names(
    ". : [ alias bg break cd command continue declare dirs disown echo eval exec exit export false fg getopts hash help"
    " history jobs let local mapfile popd printf pushd pwd read readarray readonly return set shift shopt source test"
    " times trap true type typeset ulimit umask unalias unset wait"
)
"""Words that a shell takes itself, whatever lies on PATH."""

RISKY = names(
    "bash blkdiscard chgrp chmod chown cp curl dash dd doas env eval fdisk find fish git kill killall ksh"
    " launchctl ln loginctl mke2fs mkfs mkfs.ext4 mkfs.xfs mv node nohup parted perl pkill python python3"
    " reflexctl reflexd rimraf rm rmdir rsync ruby sgdisk sh shred srm sudo systemctl tee timeout truncate unlink"
    " wget wipefs xargs zsh"
)
"""What the tail of an unknown program, or a pattern for a program's name, is tried on."""
