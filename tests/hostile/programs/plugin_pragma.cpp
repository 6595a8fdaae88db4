// Has the compiler load code and write files: by pragmas and attributes that name options. The compiler must take none.
#pragma GCC plugin "/work/evil.so"
#pragma GCC optimize("plugin=/work/evil.so")
#pragma GCC optimize("dump-tree-all=/work/planted")
__attribute__((optimize("-fplugin=/work/evil.so", "-fdump-tree-all=/tmp/planted"))) static void f() {}
#include <unistd.h>

#include <cstdio>
int main() {
  f();
  puts(access("/work/planted", F_OK) == 0 || access("/tmp/planted", F_OK) == 0 ? "planted" : "nothing");
}
