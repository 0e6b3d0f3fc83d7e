rec a b c
%%
rec 'a b' "c d" e\ f
%%
rec "a\$b" 'a$b' "a\\b" a\\b "\a"
%%
rec $'a\tb' $'\x41\102\u00e9' $'it\'s'
%%
x=1; rec $x "$x" '$x' ${x}2 "${x}3"
%%
x='a  b'; rec $x "$x"
%%
x=; rec $x "$x" end
%%
rec ""'' a""b
%%
rec {a,b}{1,2} x{1..3} {c..a} {a} a{,b} "{a,b}"
%%
rec {1..9..4} {a..e..2}
%%
rec ~ ~/x "~" a~ '~'/b
%%
x=~/y; rec $x
%%
unset u; rec ${u:-d} ${u-d e} "${u:-d e}" ${HOME:+set} ${u:+no}
%%
x=abcdef; rec ${x:2} ${x:1:2} ${x: -2} ${x:0:-1} ${#x}
%%
x=a.b.c; rec ${x#*.} ${x##*.} ${x%.*} ${x%%.*}
%%
x=aXbX; rec ${x/X/-} ${x//X/-} ${x//X/} ${x^^} ${x,,} ${x^}
%%
a=(1 "2 3" 4); rec "${a[@]}" ; rec ${a[@]} ; rec ${a[1]} "${a[1]}"
%%
a=(x); a+=(y z); rec "${a[@]}"
%%
set -- p "q r" s; rec "$@" ; rec $* ; rec "$*" ; rec $1 "$2" $#
%%
set -- a b c; shift; rec "$@"
%%
rec $(echo a b) "$(echo a b)" `echo c`
%%
rec "$(echo "$(echo deep)")" $(printf '%s\n' x y)
%%
rec $(echo 'a  b') "$(printf 'l1\nl2\n\n')"
%%
IFS=:; x=a:b:c; rec $x "$x"
%%
IFS=; x='a b'; rec $x
%%
rec a;rec b&&rec c
%%
false || rec x
%%
(rec sub); { rec group; }
%%
if true; then rec yes; fi
%%
for i in 1 2 "3 4"; do rec "$i"; done
%%
case abc in a*) rec match;; esac
%%
f() { rec "$1" "$#"; }; f one two
%%
f() { local x=in; rec $x; }; f
%%
rec a \
  b \
  "c\
d"
%%
x=b\
c; rec "$x"
%%
rec a # comment b
rec c#d '#e'
%%
rec a >/dev/null 2>&1 b
%%
rec <<'E' a
$x
E
%%
cat <<E | xargs rec
p q
E
%%
rec "$(cat <<'E'
it's "quoted" `x` $(y)
E
)"
%%
rec "$(cat <<E
a $HOME \$HOME
E
)"
%%
cat <<A <<B | xargs rec
first
A
second
B
%%
cat <<-E | xargs rec
	tabs
	E
%%
cat >f<<E; xargs rec <f
in file
E
%%
cat <<'E'|xargs rec
no space
E
%%
read -r a b <<< 'x y z'; rec "$a" "$b"
%%
x=$(cat <<< word); rec $x
%%
echo 'a b' | xargs rec
%%
printf 'a b\nc\n' | xargs -I{} rec {}
%%
printf 'a\0b c\0' | xargs -0 rec
%%
echo x | xargs -n1 rec pre
%%
eval "rec 'a b' c"
%%
eval rec '$HOME'
%%
bash -c 'rec "$0" "$1"' zero one
%%
bash -c "rec 'in here'"
%%
sh -c 'rec $1' x y
%%
env A=1 rec a
%%
env -S 'rec a b'
%%
timeout 5 rec a
%%
nice -n 3 rec a
%%
command rec a
%%
exec rec a
%%
time rec a
%%
! rec a
%%
x=rec; $x a; "$x" b; ${x} c
%%
x=re; ${x}c a
%%
x='rec a'; $x b
%%
r''ec a; "rec" b; \rec c; r"e"c d
%%
$(echo rec) a; `echo rec` b
%%
base64 -d <<< cmVjIGEgYg== | sh
%%
echo 'rec hi' | sh
%%
bash <<< 'rec hi'
%%
bash <(echo rec hi)
%%
. /dev/stdin <<< 'rec hi'
%%
printf '\162\145\143 a' | sh
%%
echo -e 'rec \x41' | bash
%%
echo 'kp k' | tr 'kp' 'xy' | xargs rec
%%
echo 'a-b' | sed 's/-/+/' | xargs rec
%%
find . -maxdepth 0 -exec rec x \;
%%
while read -r l; do rec "$l"; done < <(printf 'a b\nc\n')
%%
printf 'a\nb\n' | while IFS= read -r l; do rec "[$l]"; done
%%
A=1 rec a; A=2 B=3 rec b
%%
export Z=q; rec $Z
%%
declare x=5; rec $x
%%
printf -v x '%s-%s' a b; rec $x
%%
rec "${HOME%/*}" "${HOME##*/}"
%%
rec 'multi
line' b
%%
rec a; rec "b" & wait
%%
rec a | cat
%%
rec -- -x --y=z
%%
rec $'a\\b' "a'b" 'a"b'
%%
x="a'b"; rec "$x" $x
%%
rec é "ü ñ" $'\u4e2d'
%%
echo 'rec file' > s.sh; bash s.sh; . ./s.sh
%%
cat > s.sh <<'E'
rec "$1" doc
E
sh s.sh arg
%%
trap 'rec at-exit' EXIT; rec first
%%
f() { if [ "$1" = x ]; then rec x; fi; }; f x
%%
rec a$(echo b)c"d$(echo e)f"
%%
rec ${1:-none} "$@" end
%%
a=b; b=c; rec ${!a}
%%
rec "a$(printf '%s' "$(printf '%s' 'x y')")b"
%%
function g { rec "$@"; }; g 1 '2 3'
%%
rec !; rec "!" a!b
%%
rec a=b c==d =e
%%
rec [ ] "*" '?'
%%
rec a<<<x b
%%
x=5; rec "${x}a$x" "$x"{a,b}
%%
rec "$(echo 'a"b')" # c
rec d
%%
{ cat <<E; } | xargs rec
braces
E
%%
if cat <<E; then rec after; fi >/dev/null
if
E
%%
rec \
# not a comment
%%
echo "a b" | { read -r x y; rec "$y" "$x"; }
%%
x=$'a\nb'; rec "$x" $x
%%
x='*'; rec "$x"
%%
set -f; x='a b'; rec $x
%%
a='x y'; b=$a; rec $b; rec "$b"
%%
x=a; x+=b; rec $x
%%
unset x; rec "[$x]" ${x-unset}
