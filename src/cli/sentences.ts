import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { asStorageError, isSystemError, messageOf } from '../db/errors.ts'
import { conflict } from '../platform/errors.ts'

/** An error as a sentence for people; system errors name the path first. */
export function sentenceOf(error: unknown): string {
  const known = asStorageError(error)
  return known instanceof Error && isSystemError(known) ? ofSystem(known) : messageOf(known)
}

/** Sentences by error code of the system. */
const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'this account has used up its disk quota',
  EROFS: 'the file system is read-only',
  EIO: 'the disk reports an input or output error',
}

/** Matches `ENOENT: no such file or directory, open 'x.toml'`; the path may be missing. */
const FROM_SYSTEM = /^E[A-Z0-9]+: (.+?), \w+(?: '(.+)')?$/

function ofSystem({ message, code = '' }: NodeJS.ErrnoException): string {
  const [, said, path] = FROM_SYSTEM.exec(message) ?? []
  const words = WORDS[code] ?? said ?? message
  if (path === undefined) return words
  return code === 'EACCES' ? denied(path) : `${path}: ${words}`
}

function denied(path: string): string {
  const self = process.getuid?.()
  const owner = ownerOf(path)
  if (self === undefined || !owner) return `${path}: permission denied`
  return owner.uid === self || owner.uid === 0
    ? `${path}: permission denied. Run this as root, have root create it for uid ${self}, or choose another path`
    : `${path}: permission denied. ${owner.path} belongs to uid ${owner.uid}, you are uid ${self}: ` +
        `run this as that account, with sudo -u '#${owner.uid}'`
}

/** The owner of a path, or of the first visible directory above it. */
function ownerOf(path: string): { path: string; uid: number } | undefined {
  try {
    return { path, uid: statSync(path).uid }
  } catch {
    return dirname(path) === path ? undefined : ownerOf(dirname(path))
  }
}

/** Runs `begin`, which listens on a port. A failure becomes a sentence that says what to do. */
export function listening<T>(begin: () => T, server: { host: string; port: number }): T {
  try {
    return begin()
  } catch (error) {
    const sentence = sentenceOnListening(error, server)
    throw sentence === undefined ? error : conflict(sentence)
  }
}

/** Why listening failed and what to do; undefined if the original error already says so. */
export function sentenceOnListening(
  error: unknown,
  { host, port }: { host: string; port: number },
): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (!isSystemError(error) || code === 'EADDRINUSE') return undefined
  if (code === 'EACCES')
    return (
      `port ${port} on ${host}: permission denied. Set [server] port to 1024 or higher behind a reverse ` +
      'proxy, or give this account CAP_NET_BIND_SERVICE'
    )
  // For a name that does not resolve, the system's code varies.
  return (
    `cannot listen on port ${port} of ${host} (${sentenceOf(error)}). Set [server] host to an address of ` +
    'this machine: 127.0.0.1 for local access only, or 0.0.0.0 for all networks'
  )
}
