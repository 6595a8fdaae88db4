// Writes bytes that are no text in any encoding, with NULs and the marks of other encodings. They must arrive as they are.
#include <unistd.h>
int main() { write(1, "\xff\xfe\0\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\r\n\r", 15); }
