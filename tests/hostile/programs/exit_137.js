// Ends with the code that a shell shows for a process that was killed. It has ended by itself: that is what must be said.
process.exit(137);
