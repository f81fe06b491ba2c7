# Runs a command as a container would: user 12345 of no name and no home, everything read-only but /tmp.
#
#     unshare --mount --pid --fork --kill-child sh sandbox.sh FOLDER... -- DIRECTORY COMMAND...
#
# Of this machine the command sees the system's folders and each FOLDER; it starts in DIRECTORY.
set -eu
root=$(mktemp -d)
trap 'umount -lR "$root"; rmdir "$root"' EXIT
mount -t tmpfs -o mode=755 tmpfs "$root"
mkdir -p "$root/tmp" "$root/proc" "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"

show() {
    mkdir -p "$root$1"
    mount --bind "$1" "$root$1"
    mount -o remount,bind,ro "$root$1"
}

for folder in /usr /bin /sbin /lib /lib64 /etc; do
    if [ -e "$folder" ]; then show "$folder"; fi
done
while [ "$1" != -- ]; do
    show "$1"
    shift
done
mount -o remount,ro "$root"
directory=$2
shift 2
chroot "$root" setpriv --reuid 12345 --regid 12345 --clear-groups --no-new-privs \
    env -i PATH=/usr/bin:/bin LANG=C sh -c 'mkdir -p "$0" && cd "$0" && exec "$@"' "$directory" "$@"
