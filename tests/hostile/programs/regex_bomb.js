// Matches a pattern that takes exponential time. The CPU limit must end it.
/^(a+)+$/.test('a'.repeat(60) + 'b');
