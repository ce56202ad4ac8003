import { readFileSync } from 'node:fs'

/** Reads a text file, or throws the system's error. */
export type ReadFile = (path: string) => string

export type FileText = { text: string } | { problem: string; isAbsent: boolean }

const REASONS: Record<string, string> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'it is not UTF-8 text',
}

/** UTF-8, with or without a byte order mark. */
export const readTextFile: ReadFile = (path) =>
  new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))

/** The text of a file, or the reason why it can't be read. */
export function textOf(path: string, readFile: ReadFile): FileText {
  try {
    return { text: readFile(path) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const reason = REASONS[code] ?? (code || String(error))
    return {
      problem: `cannot read ${path}: ${reason}`,
      isAbsent: code === 'ENOENT' || code === 'ENOTDIR',
    }
  }
}

/** The value in a file, without a final line break. Empty is a problem: likely a failed mount. */
export function valueIn(path: string, readFile: ReadFile): FileText {
  const file = textOf(path, readFile)
  if ('problem' in file) return file
  const text = file.text.replace(/\r?\n$/, '')
  return text === '' ? { problem: `${path} is empty`, isAbsent: false } : { text }
}
