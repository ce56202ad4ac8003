/** Where in a text, for people: both begin with 1, and a column is one visible character or so. */
export interface Place {
  line: number
  column: number
}

/** For a place counted in bytes of UTF-8. */
export const placeOfByte = (bytes: Buffer, at: number): Place =>
  placeOf(bytes.subarray(0, at).toString())

/** For the place where `before` ends. */
export function placeOf(before: string): Place {
  const lineStart = before.lastIndexOf('\n') + 1
  return {
    line: before.split('\n').length,
    column: [...before.slice(lineStart)].length + 1,
  }
}

export const at = ({ line, column }: Place): string => `line ${line}, column ${column}`
