"""pass@k on the server: problems and candidates in, every candidate run once, an estimate with its evidence out."""
