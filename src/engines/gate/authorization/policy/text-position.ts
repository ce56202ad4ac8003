/** Line and column start at 1; a column is about one visible character. */
export interface Position {
  line: number
  column: number
}

/** The position of a byte offset in UTF-8 text. */
export const positionOfByte = (bytes: Buffer, at: number): Position =>
  positionOf(bytes.subarray(0, at).toString())

/** The position at which `before` ends. */
export function positionOf(before: string): Position {
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: [...before.slice(lineStart)].length + 1 }
}

export const at = ({ line, column }: Position): string => `line ${line}, column ${column}`
