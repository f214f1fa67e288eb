/* Preloaded into a server by a program that reads its address: the server writes the address only to a terminal. */
process.stdout.isTTY = true;
