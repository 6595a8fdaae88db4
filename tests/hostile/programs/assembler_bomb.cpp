// Has the assembler repeat itself without end. Its limits must stop it.
asm(".rept 2000000000\nnop\n.endr");
int main() {}
