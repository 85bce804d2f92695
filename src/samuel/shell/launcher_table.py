"""Programs that are there for something else and can start a command, a shell, or code of another language.

One row for each way: the programs, the way, and an example, with which the tests check the row. The ways are

    words [+N] [OPTION ...]    the words after the program's own options are a command. The options named here have a
                               value of their own, or two with `:2`; +N words come before the command
    after WORD [OPTION ...]    likewise, after a subcommand; alternatives stand between `/`
    script WORD [OPTION ...]   likewise, but the words are text for a shell
    text OPTION ...            the value of an option is text for a shell
    code OPTION ...            the value of an option is code, which is not read
    option OPTION ...          the option makes the program run something that is not in the text, or not all of it
    address PREFIX ...         a word that begins so has text for a shell behind it
    escape MARK                text for a shell stands behind this mark in a word
    input [OPTION ...]         without arguments, it runs commands that come through standard input; not with one
                               of these options
    shell [WORD]               it starts a shell; with a word, only after that subcommand

Programs whose options need more than this are in
`prefixes.py`, `launchers.py` and `interpreters.py`.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

TABLE = """
bun | code -e -p --eval --print | bun -e 'require("child_process").execSync("rm -rf x")'
aa-exec dbus-launch aoss padsp torsocks torify tsocks dbus-run-session | words -p -n -f | aa-exec -p profile -- rm -rf x
proxychains proxychains4 | words -f | proxychains -q rm -rf x
choom | words -n -p | choom -n 0 -- rm -rf x
ssh-agent | words -a -E -O -P -t | ssh-agent -t 5 rm -rf x
sshpass | words -p -f -d -P | sshpass -p secret rm -rf x
linux32 linux64 i386 i486 i586 i686 x86_64 uname26 ppc ppc64 s390 armv7l aarch64 sparc64 | words | x86_64 -R rm -rf x
setarch | words +1 | setarch x86_64 -R rm -rf x
setarch | words | setarch -R rm -rf x
fakeroot fakeroot-ng fakechroot pseudo | words -l -s -i -b --lib -u | fakeroot -s state -- rm -rf x
eatmydata dumb-init catatonit s6-setsid pexec | words | eatmydata rm -rf x
tini | words -p -e | tini -s -- rm -rf x
daemonize | words -a -c -e -E -o -p -l -u | daemonize -p pid rm -rf x
setlock | words +1 | setlock -n lock rm -rf x
chpst softlimit | words -u -U -e -l -L -m -d -o -p -f -c -t -a -r -s | chpst -u user rm -rf x
setuidgid envuidgid | words +1 | setuidgid user rm -rf x
s6-envdir envdir | words +1 | envdir env rm -rf x
gosu su-exec | words +1 | gosu user rm -rf x
capsh | shell -- | capsh --
capsh | text -- -c | capsh -- -c 'rm -rf x'
cgexec | words -g | cgexec -g cpu:x rm -rf x
cpulimit | words -l -p -e -c --limit --pid --exe --cpu | cpulimit -l 50 -f -- rm -rf x
trickle | words -u -d -w -t -l -L -n -p -P | trickle -d 10 rm -rf x
perf | after stat/record/trace -e -o -p -C -r -F -g | perf stat -e cycles rm -rf x
valgrind heaptrack rr callgrind gdbserver | words | valgrind --quiet rm -rf x
heaptrack | words -o -p | heaptrack -o out rm -rf x
rr | after record -o | rr record rm -rf x
gdbserver | words +1 | gdbserver :1234 rm -rf x
multitime | words -n -s -r -I -o | multitime -n 2 rm -rf x
hyperfine | text -p -c -s --prepare --cleanup --setup | hyperfine -p 'rm -rf x' true
logsave | words +1 | logsave log rm -rf x
grc | words -c --config | grc --pty rm -rf x
nsenter | words -t --target -S -G --setuid --setgid -W | nsenter -t 1 -m rm -rf x
ip | after exec +1 | ip netns exec name rm -rf x
bwrap | words --bind:2 --ro-bind:2 --dev-bind:2 --bind-try:2 --ro-bind-try:2 --symlink:2 --setenv:2 --chdir --dev --proc --tmpfs --dir --unsetenv --uid --gid --hostname | bwrap --dev /dev rm -rf x
firejail | words | firejail --quiet rm -rf x
proot | words -r -b -w -S -R -q -k | proot -r root rm -rf x
nsjail | words -c -u -g -R -B -T -t --config | nsjail -c / -- rm -rf x
unshare systemd-inhibit | words --what --who --why --mode | systemd-inhibit --what idle rm -rf x
systemd-nspawn arch-nspawn | words -D -M -u -i --bind --directory --machine | systemd-nspawn -D root rm -rf x
machinectl | after shell +1 | machinectl shell host rm -rf x
openvt | words -c | openvt -c 3 -- rm -rf x
start-stop-daemon | option -x -a --exec --startas -S --start | start-stop-daemon --start --exec /bin/rm
runc crun youki | option run exec create | runc run x
distcc ccache icecc sccache buildcache pump | words | distcc rm -rf x
codex | after sandbox +1 | codex sandbox linux rm -rf x
cabal stack | after exec -p --project-file | cabal exec -- rm -rf x
opam luarocks nix direnv asdf mise rtx volta fnm nvm conda mamba micromamba | after exec/run -n -p | conda run -n env rm -rf x
nix-shell nix | text --run --command -c | nix-shell --run 'rm -rf x'
chruby-exec rbenv pyenv nodenv jenv goenv | after exec | pyenv exec rm -rf x
dotenv envchain aws-vault chamber doppler infisical | after exec/run/-- -f -e +0 | dotenv run -f .env -- rm -rf x
op | after run --env-file | op run -- rm -rf x
dpkg-architecture | text -c | dpkg-architecture -c 'rm -rf x'
genie | text -c | genie -c 'rm -rf x'
sg newgrp | text -c | sg group -c 'rm -rf x'
ksu | after -e | ksu -q -e rm -rf x
agetty getty | option -l --login-program | agetty -l /tmp/x tty
screen | words -S -t -c -T -h -s -e -p -X | screen -dm rm -rf x
tmate byobu | text -c | tmate -c 'rm -rf x'
tmux byobu | text -c | tmux -c 'rm -rf x'
tmux byobu | script new/new-session/neww/new-window/splitw/split-window/respawn-pane/respawnp/respawn-window/respawnw -s -n -t -c -F -x -y -e -l -p | tmux new-session -d -s name 'rm -rf x'
tmux byobu | script send/send-keys/run/run-shell/pipe-pane/pipep/if/if-shell/popup/display-popup/confirm-before -t -N -d -c | tmux send-keys -t name 'rm -rf x' Enter
tmux byobu tmate abduco dtach zellij | input | tmux
screen | input -r -R -x -X -rd -dr -xr -rx -D -d -ls -list -wipe | screen
screen | script stuff/exec | screen -S name -X stuff 'rm -rf x'
salt salt-call | script cmd.run/cmd.shell | salt '*' cmd.run 'rm -rf x'
entr | words | entr -r rm -rf x
reflex watchexec nodemon inotifywait onchange chokidar fswatch | text -x -c --exec --on-change | nodemon -x 'rm -rf x'
watchexec reflex onchange | words -e -w -g -r -f --exts --watch | watchexec -e py rm -rf x
concurrently npm-run-all run-p run-s | text -c | concurrently -c 'rm -rf x'
run-parts | option --regex -a -v --verbose --exit-on-error --test | run-parts --verbose dir
at batch | shell | at now
ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-musl-x86_64.so.1 | words --library-path --preload --argv0 | /lib64/ld-linux-x86-64.so.2 /bin/rm -rf x
ansible-test | shell shell | ansible-test shell
poetry pipenv hatch | shell shell | poetry shell
cdist | option -s --shell | cdist shell -s ./x
apt-get apt apt-cache dpkg-reconfigure | option -o --option APT::* | apt-get update -o APT::Update::Pre-Invoke::=x
aria2c | option --on-download-complete --on-bt-download-complete --on-download-start --on-download-stop --on-download-error | aria2c --on-download-complete=./x http://a
borg | text --rsh | borg extract --rsh 'rm -rf x' a::b
restic | text --password-command -o --option | restic --password-command 'rm -rf x' backup
rclone | option --password-command | rclone --password-command x ls a:
bpftrace | text -c | bpftrace -c 'rm -rf x' -e 'END {}'
bpftrace clisp octave octave-cli gnuplot slsh jrunscript dc rpm rpmdb rpmquery rpmverify emacs csi scheme racket guile julia swipl gawk ghc ghci maxima sage gp xonsh hy newlisp picolisp rakudo raku | code -e -x -E -f --eval --execute --exec -batch -eval -c -funcall | dc -e '!rm -rf x'
puppet | code -e --execute | puppet apply -e "exec { 'rm': }"
busctl | address unixexec: --address=unixexec: | busctl --address=unixexec:path=/bin/rm
certbot | text --pre-hook --post-hook --deploy-hook --renew-hook --manual-auth-hook --manual-cleanup-hook | certbot renew --pre-hook 'rm -rf x'
check_by_ssh | option -o -E | check_by_ssh -o 'ProxyCommand rm' -H a
cpio | option --rsh-command | cpio -o --rsh-command ./x -F a:
csvtool | after call | csvtool call rm x
dhclient | option -sf -cf -lf | dhclient -sf ./x
dmsetup | text --exec | dmsetup ls --exec 'rm -rf x'
dnsmasq | option --conf-script --dhcp-script | dnsmasq --conf-script=./x
dvips latexmk | option -R0 -pdflatex -latex -e -pdflatex=* -latex=* -r | latexmk -pdf -pdflatex='rm #' a
enscript | option -I --filter -D | enscript -I 'rm x' a
fail2ban-client | option action actionban | fail2ban-client set x action y actionban z
fzf sk | option --bind --preview --listen --execute --bind=* --preview=* --listen=* | fzf --preview 'rm -rf x'
gcc g++ cc c++ clang | option -wrapper -B -fplugin=* -specs=* -fuse-ld=* | gcc -wrapper ./x,-s a.c
gem | text -e | gem open -e 'rm -rf x' debug
git-grep git-rebase git-bisect git-difftool | option -O -x run | git-bisect run x
hg | option --config --config=* | hg --config alias.x='!rm' x
svn | option --editor-cmd --diff-cmd --diff3-cmd --config-option --editor-cmd=* --diff-cmd=* | svn diff --diff-cmd ./x
latex pdflatex pdftex tex xelatex lualatex luatex etex | option --shell-escape -shell-escape --enable-write18 --shell-restricted | pdflatex --shell-escape a.tex
lftp ftp sftp ncftp | code -c -e | lftp -c '!rm -rf x'
lxc lxd incus | after exec +1 | lxc exec name rm -rf x
m4 ftp lftp gnuplot octave | input | m4
mail mailx mutt s-nail | option --exec --exec=* -e -E | mail --exec='!rm'
mosh | text --server --ssh | mosh --server 'rm -rf x' host
mosh | words +1 -p --server --ssh --predict | mosh host rm -rf x
msgfilter msgexec | words -i -o | msgexec -i a rm -rf x
mysql mariadb psql mycli pgcli | escape \\! | psql -c '\\! rm -rf x'
mysql mariadb | option --pager --pager=* | mysql --pager='rm x'
openvpn | text --up --down --route-up --ipchange --tls-verify --client-connect --auth-user-pass-verify | openvpn --up 'rm -rf x'
perlbug | text -e | perlbug -e 'rm -rf x'
pip pip3 | text --editor | pip config --editor 'rm -rf x' edit
pidstat | after -e | pidstat -e rm -rf x
plymouth | text --command | plymouth ask-for-password --command='rm -rf x'
rpm rpm2cpio rpmbuild | text --pipe | rpm --pipe 'rm -rf x'
scrot | text -e --exec | scrot -e 'rm -rf x'
maim import gnome-screenshot | text --exec | maim --exec 'rm -rf x'
service | option ../* | service ../../bin/rm
socat socat1 | address exec: system: shell: | socat - EXEC:'rm -rf x'
nc ncat netcat | text -e -c --exec --sh-exec | nc -e 'rm -rf x' host 1
ncat netcat | option --lua-exec | ncat --lua-exec x.lua host
sysctl | option kernel.core_pattern=* kernel.modprobe=* | sysctl kernel.core_pattern='|rm'
systemd-run | option -S --shell -t --pty | systemd-run -S
task | after execute/exec | task execute rm -rf x
tcpdump | option -z --postrotate-command | tcpdump -w a -z ./x
tshark dumpcap | option -X lua_script:* | tshark -X lua_script:x.lua
xdotool | after exec --args | xdotool exec --sync rm -rf x
xdg-user-dir | option }* | xdg-user-dir '}; rm #'
xterm gnome-terminal konsole urxvt alacritty kitty rxvt terminator xfce4-terminal | words -T -n -g --title --working-directory | kitty rm -rf x
xterm gnome-terminal konsole urxvt alacritty rxvt terminator xfce4-terminal | text -e -x --command --execute | xterm -e 'rm -rf x'
yt-dlp youtube-dl | text --exec --exec-before-download --netrc-cmd --downloader | yt-dlp --exec 'rm -rf x' url
wget | option --use-askpass --use-askpass=* | wget --use-askpass=./x url
curl | option --netrc-cmd -K --config | curl -K ./x
tar gtar bsdtar | text -I --use-compress-program --to-command | tar -I 'rm -rf x' -cf a.tar b
rg | text --pre | rg --pre 'rm -rf x' pattern
split | text --filter | split --filter='rm -rf x' a
sshfs | option ssh_command=* sftp_server=* | sshfs -o ssh_command=./x a: b
check_ssl_cert | option --grep-bin --openssl --curl-bin --nmap-bin | check_ssl_cert --grep-bin ./x -H a
zic | option -y | zic -y ./x a
fd fdfind | after -x/-X/--exec/--exec-batch | fd pattern -x rm -rf x
scp rsync-ssl | option -S | scp -S ./x a b:
ssh-keygen ssh-copy-id ssh-keyscan | option -D | ssh-keygen -D ./x.so
strace ltrace | words -o -e -E -p -s -u -a -I -O -P -S -X -b | strace -f -o out rm -rf x
vagrant | text -c | vagrant ssh -c 'rm -rf x'
minicom cu tip jtag scanmem radare2 r2 ranger mc ncdu zathura nnn lf vifm jshell | input | minicom -D /dev/null
rc sash elvish es osh ysh oil | input | sash
pic groff troff nroff eqn tbl | option -U -S- | pic -U a
msfconsole irb pry ipython | code -x -q -e -c | irb -e 'exec "rm"'
wine wine64 box64 qemu-x86_64 qemu-aarch64 | words -L -E -U -cpu | qemu-x86_64 /bin/rm -rf x
tclsh wish expect | input | expect
"""


class LauncherRow(NamedTuple):
    programs: tuple[str, ...]
    way: str
    values: tuple[str, ...]
    """What stands after the way."""
    example: str


@cache
def launcher_rows() -> dict[str, list[LauncherRow]]:
    """The rows by program."""
    rows: dict[str, list[LauncherRow]] = {}
    for line in TABLE.strip().splitlines():
        names, form, example = (part.strip() for part in line.split(" | ", 2))
        way, *values = form.split()
        row = LauncherRow(tuple(names.split()), way, tuple(values), example)
        for program in row.programs:
            rows.setdefault(program, []).append(row)
    return rows
