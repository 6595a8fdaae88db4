// Ends with the code that a container's runtime uses for its own failures. It must be the program's own.
int main() { return 128; }
