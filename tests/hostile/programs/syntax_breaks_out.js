// Ends the function that a check might wrap around it, and goes on behind. What is checked must be the text as it is.
}); console.log('out'); (function () {
