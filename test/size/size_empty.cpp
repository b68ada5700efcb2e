// An empty program; its size, that of any statically linked C++ program, is subtracted from others.

int main() { return 0; }
