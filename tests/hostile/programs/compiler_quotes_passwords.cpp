// Has the compiler quote a file of root's in its errors. Permissions must stop it.
#include "/etc/shadow"
int main() {}
