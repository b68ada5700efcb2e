#!/bin/sh
# Builds the Java package (bindings/java) and tests it on this machine's JVM, with the half of
# examples/android that has nothing of Android.
#
#   scripts/java.sh [BUILD]              all of it; BUILD defaults to build/release
#   scripts/java.sh --package [BUILD]    only the package, in build/java
#
# build/java gets taper-runtime-VERSION.jar, with the classes and the libraries of this machine;
# taper-android-VERSION.aar, with those for each of Android's processors if ANDROID_NDK names the
# NDK's folder, and with none if it does not; and a .pom for each. If ANDROID_JAR names the
# android.jar of a platform of Android, the example's other half is compiled, too. Needs what
# `scripts/deps.sh java` installs.
set -eu
cd "$(dirname "$0")/.."
what=all
if [ "${1:-}" = --package ]; then
  what=package
  shift
fi
build=${1:-build/release}
out=build/java
source=bindings/java
abis="arm64-v8a x86_64"

fail() {
  echo "java.sh: $1" >&2
  exit 1
}
[ -e "$build/CMakeCache.txt" ] || fail "$build is missing: run 'make build'"
JAVA_HOME=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
export JAVA_HOME

# libraries BUILD TO STRIP: libtaper and libtaper_java into the folder TO.
libraries() {
  cmake -DTAPER_JAVA=ON "$1" >"$out/configure.log" 2>&1 &&
    cmake --build "$1" --target taper_java >"$out/build.log" 2>&1 || {
    tail -20 "$out/configure.log" "$out/build.log" >&2
    fail "the libraries do not compile"
  }
  mkdir -p "$2"
  for library in $(find "$1" -name "libtaper_java.so" -o -name "libtaper.so.0" -o -name libtaper.so)
  do
    [ -L "$library" ] && [ "${library%.0}" = "$library" ] && continue  # The name for linkers.
    cp -L "$library" "$2"
    "$3" --strip-unneeded "$2/$(basename "$library")"
  done
}

rm -rf "$out"
mkdir -p "$out/classes" "$out/jar" "$out/aar"
javac --release 8 -Xlint:all -Xlint:-options -Werror -d "$out/classes" "$source"/dev/taper/*.java
libraries "$build" "$out/jar/native/linux-$(uname -m)" strip
version=$(sed -n 's/^project(taper VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
licenses() { cmake --install "$1" --component licenses --prefix "$2" >/dev/null; }
pom() { cp "$build/bindings/java/$1.pom" "$out/$1-$version.pom"; }

# --- The jar.
cp -r "$out/classes/." "$out/jar"
licenses "$build" "$out/jar/META-INF"
scripts/check_licenses.sh "$out/jar/META-INF/licenses/taper.spdx" "$out/jar/META-INF/licenses" \
  flatbuffers gcc-runtime
jar cf "$out/taper-runtime-$version.jar" -C "$out/jar" .
pom taper-runtime
echo "java.sh: taper-runtime-$version.jar: $(wc -c <"$out/taper-runtime-$version.jar") bytes"

# --- The AAR: what its format calls mandatory, the libraries, and those again for C++ (prefab).
aar=$out/aar
jar cf "$aar/classes.jar" -C "$out/classes" .
cp "$source/android/AndroidManifest.xml" "$source/android/proguard.txt" "$aar"
cp -r "$out/jar/META-INF/licenses" "$aar"
: >"$aar/R.txt"
mkdir -p "$aar/res" "$aar/prefab/modules/taper/include/taper"
cp runtime/include/taper/taper.h "$aar/prefab/modules/taper/include/taper"
cat >"$aar/prefab/prefab.json" <<END
{"schema_version": 2, "name": "taper", "version": "$version", "dependencies": []}
END
echo '{"export_libraries": [], "library_name": "libtaper"}' >"$aar/prefab/modules/taper/module.json"
if [ -n "${ANDROID_NDK:-}" ]; then
  for abi in $abis; do
    cmake --preset android -B "build/android-$abi" "-DANDROID_ABI=$abi" >"$out/configure.log" ||
      fail "Android's toolchain cannot be configured; see $out/configure.log"
    libraries "build/android-$abi" "$aar/jni/$abi" \
      "$(ls "$ANDROID_NDK"/toolchains/llvm/prebuilt/*/bin/llvm-strip | head -n 1)"
    libs=$aar/prefab/modules/taper/libs/android.$abi
    mkdir -p "$libs"
    cp "$aar/jni/$abi/libtaper.so" "$libs"
    echo "{\"abi\": \"$abi\", \"api\": 24, \"ndk\": 0, \"stl\": \"none\"}" >"$libs/abi.json"
    rm -rf "$aar/licenses"
    licenses "build/android-$abi" "$aar"
  done
else
  echo "java.sh: ANDROID_NDK is not set, so the AAR has no libraries"
fi
jar cfM "$out/taper-android-$version.aar" -C "$aar" .
scripts/check_licenses.sh "$aar/licenses/taper.spdx" "$aar/licenses" flatbuffers
pom taper-android
[ "$what" = all ] || exit 0

programs=$out/programs
python3 bindings/programs.py "$(pwd)/$build/bin/taper" "$programs"
junit=/usr/share/java/junit4.jar:/usr/share/java/hamcrest-core.jar
jar=$out/taper-runtime-$version.jar
mkdir "$out/tests"
app=examples/android/app/src
example=dev/taper/example
javac -Xlint:all -Werror -cp "$jar:$junit" -d "$out/tests" "$source"/tests/dev/taper/*.java \
  "$app/main/java/$example/Classifier.java" "$app/test/java/$example"/*.java
if [ -n "${ANDROID_JAR:-}" ]; then
  javac -Xlint:all -Werror -cp "$jar:$out/tests:$ANDROID_JAR" -d "$out/tests" \
    "$app/main/java/$example/MainActivity.java"
fi
java -Xcheck:jni "-Dtaper.models=$(pwd)/test/models/data" "-Dtaper.programs=$(pwd)/$programs" \
  "-Dtaper.demo=$(pwd)/demo" "-Dtaper.assets=$(pwd)/$app/main/assets" \
  -cp "$jar:$out/tests:$junit" org.junit.runner.JUnitCore dev.taper.ModelsTest dev.taper.ModelTest \
  dev.taper.example.ClassifierTest >"$out/tests.log" 2>&1 || {
  grep -v '^[[:space:]]*at ' "$out/tests.log" | tail -60 >&2
  fail "tests failed; see $out/tests.log"
}
# What -Xcheck:jni finds, it only prints.
if grep -E "WARNING|FATAL" "$out/tests.log" >&2; then fail "JNI is used in a wrong way"; fi
grep "^OK" "$out/tests.log"
