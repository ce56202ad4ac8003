/** A program that prints a line and ends. */
console.log('a line')
