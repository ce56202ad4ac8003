import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'smol-toml'
import { leaves } from '../../config/catalogue.ts'
import type { Configured } from '../command.ts'
import { type Finding, ok, warning } from './finding.ts'

const check = 'secrets'
const secrets = leaves.filter(({ setting }) => setting.secret)
/** Suffix of a setting that names a file with the value. */
const IN_FILE = '_file'

/** Files that an orchestrator mounts, visible only in the container; their modes don't matter. */
const MOUNTED = /^\/(var\/)?run\//

/** Warns of files with secrets that every account on this machine can read. */
export function secretFiles({ loaded, io }: Pick<Configured, 'loaded' | 'io'>): Finding[] {
  const at = (path: string) => resolve(io.cwd, path)
  const file = loaded.file === undefined ? undefined : at(loaded.file)
  const written = file === undefined ? [] : textsIn(file)
  const holders = written.some(({ key }) => secrets.some((secret) => secret.key === key))
    ? [file ?? '']
    : []
  const named = [
    ...secrets.flatMap(({ variable }) => io.env[`${variable}_FILE`] ?? []),
    ...written.filter(({ key }) => key.endsWith(IN_FILE)).map(({ value }) => value),
  ].map(at)
  const found = [
    ...holders.flatMap((path) => openToAll(path, 640)),
    ...[...new Set(named)].filter(isOurs).flatMap((path) => openToAll(path, 600)),
  ]
  if (found.length > 0 || holders.length + named.length === 0) return found
  return [ok(check, 'in files that only the owner or group can read')]
}

const isOurs = (path: string) => !MOUNTED.test(path)

function openToAll(path: string, mode: number): Finding[] {
  const isOpen = (statSync(path).mode & 0o004) !== 0
  return isOpen
    ? [
        warning(
          check,
          `all accounts can read ${path}, which contains secrets: run chmod ${mode} ${path}`,
        ),
      ]
    : []
}

interface Written {
  key: string
  value: string
}

/** All text values in the configuration file. */
const textsIn = (file: string): Written[] => textsOf(parse(readFileSync(file, 'utf8')), [])

function textsOf(table: object, above: string[]): Written[] {
  return Object.entries(table).flatMap(([word, value]: [string, unknown]) => {
    const path = [...above, word]
    if (typeof value === 'string') return [{ key: path.join('.'), value }]
    return typeof value === 'object' && value !== null ? textsOf(value, path) : []
  })
}
