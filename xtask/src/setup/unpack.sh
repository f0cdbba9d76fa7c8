# Unpacks a Debian package, with what it needs and this machine lacks, into a folder, and
# installs nothing:
#
#     sh unpack.sh FOLDER PACKAGE PROGRAM
#
# FOLDER/bin/PROGRAM starts it.
set -e
package=$2
program=$3
mkdir -p "$1/$package" "$1/bin"
tools=$(cd "$1" && pwd)
cd "$1/$package"
packages=$(apt-get -s --no-install-recommends install "$package" |
    sed -n 's/^Inst \([^ ]*\) .*/\1/p')
rm -rf root ./*.deb
apt-get -q download $packages
for archive in *.deb; do
    dpkg-deb -x "$archive" root
done
rm -f ./*.deb
libraries=$(echo "$PWD"/root/lib/*-linux-gnu "$PWD"/root/usr/lib/*-linux-gnu | tr ' ' ':')
cat > "$tools/bin/$program" <<END
#!/bin/sh
LD_LIBRARY_PATH=$libraries\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH} \\
    exec "$PWD/root/usr/bin/$program" "\$@"
END
chmod +x "$tools/bin/$program"
"$tools/bin/$program" --version
