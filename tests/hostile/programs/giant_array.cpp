// Makes a program larger than the disk. The limit of files must stop it.
char a[200 << 20] = {1};
int main() { return a[0]; }
