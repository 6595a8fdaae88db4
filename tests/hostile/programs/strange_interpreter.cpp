// Names a loader that is not there, by adding to the section for it, so that no kernel starts the program. That must be the
// program's failure and not ours.
asm(".section .interp,\"a\"\n.ascii \"x\"\n.text");
int main() {}
