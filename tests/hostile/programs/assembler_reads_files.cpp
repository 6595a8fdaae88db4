// Takes files of the system into the program, past the preprocessor. Permissions must stop it.
asm(".incbin \"/etc/shadow\"");
int main() {}
