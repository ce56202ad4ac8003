/**
 * A position in a text for humans: line and column start at 1, and a column is about one visible
 * character.
 */
export interface Place {
  line: number
  column: number
}

/** The position of a byte offset in UTF-8 text. */
export const placeOfByte = (bytes: Buffer, at: number): Place =>
  placeOf(bytes.subarray(0, at).toString())

/** The position at which `before` ends. */
export function placeOf(before: string): Place {
  const lineStart = before.lastIndexOf('\n') + 1
  return {
    line: before.split('\n').length,
    column: [...before.slice(lineStart)].length + 1,
  }
}

export const at = ({ line, column }: Place): string => `line ${line}, column ${column}`
