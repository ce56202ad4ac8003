import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { asStorageError, isSystemError, messageOf } from '../db/errors.ts'

/** Whatever went wrong, as people say it: the system's words, the way round that people use. */
export function sentenceOf(error: unknown): string {
  const known = asStorageError(error)
  return known instanceof Error && isSystemError(known) ? ofSystem(known) : messageOf(known)
}

/** By the system's names of errors. */
const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota of this account is used up',
  EROFS: 'the file system is read-only',
  EIO: 'the disk reports an input or output error',
}

/** It says `ENOENT: no such file or directory, open 'x.toml'`, and leaves out where it knows none. */
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
    ? `${path}: permission denied; run this as root, have root make it for uid ${self}, or name another place`
    : `${path}: permission denied; ${owner.path} belongs to uid ${owner.uid} and this is uid ${self}: ` +
        `run this as that account, sudo -u '#${owner.uid}'`
}

/** Of the path itself, or of the first directory above it that can be seen. */
function ownerOf(path: string): { path: string; uid: number } | undefined {
  try {
    return { path, uid: statSync(path).uid }
  } catch {
    return dirname(path) === path ? undefined : ownerOf(dirname(path))
  }
}

/** Why nobody can listen there; undefined where the system has said it well enough. */
export function sentenceOnListening(
  error: unknown,
  { host, port }: { host: string; port: number },
): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (!isSystemError(error) || code === 'EADDRINUSE') return undefined
  if (code === 'EACCES')
    return (
      `port ${port} on ${host}: permission denied; set [server] port to one from 1024 on, with a ` +
      'reverse proxy before it, or give this account CAP_NET_BIND_SERVICE'
    )
  // Of a name that leads nowhere the system says anything.
  return (
    `cannot listen on port ${port} of ${host} (${sentenceOf(error)}): set [server] host to an address ` +
    'of this machine, 127.0.0.1 for itself alone or 0.0.0.0 for all'
  )
}
