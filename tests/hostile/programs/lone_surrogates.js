// Prints halves of letters, which no encoding has bytes for. What the language makes of them must arrive.
console.log('\ud800|\udfff');
