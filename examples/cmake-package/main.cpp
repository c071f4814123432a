#include <cstdio>

#include "saltus/version.h"

int main() { std::printf("Saltus %s (%s)\n", saltus::version, saltus::commit); }
