// Has a segment that is larger than any memory, so that no kernel starts the program. That must be the program's failure and
// not ours.
asm(".section .endless,\"aw\",@nobits\n.space 0x7ffffff00000000\n.text");
int main() {}
