// Makes garbage as fast as it can, and keeps just enough to make collecting it dear. The CPU limit must end it.
const kept = new Array(100000).fill(null);
for (let n = 0; ; n++) kept[n % 100000] = { n, next: kept[(n * 7) % 100000] && { n } };
