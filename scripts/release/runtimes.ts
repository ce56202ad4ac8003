/**
 * The runtimes of other machines come as the packages that `bun` has for its platforms, through the
 * package manager: it knows the registry, and checks each tarball against the hash in bun.lock.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import lock from '../../bun.lock'
import manifest from '../../package.json' with { type: 'json' }
import type { Target } from './targets.ts'

const ROOT = join(import.meta.dir, '..', '..')
const CACHE = join(ROOT, 'node_modules', '.cache', 'gatehouse-runtimes')
const PINNED = manifest.devDependencies.bun

/** The file of each target's runtime, by the name of its package. */
export async function fetchRuntimes(targets: readonly Target[]) {
  const project = runtimeProject(targets.map(({ runtime }) => runtime))
  const folder = join(CACHE, new Bun.CryptoHasher('sha256').update(project.lock).digest('hex'))
  if (!existsSync(folder)) await install(project, folder)
  return (target: Target) => join(folder, 'node_modules', target.runtime, 'bin', 'bun')
}

/** A project that needs these packages only, locked to what bun.lock has for them. */
export function runtimeProject(packages: readonly string[]) {
  const dependencies = Object.fromEntries(packages.map((name) => [name, PINNED]))
  const locked = Object.fromEntries(packages.map((name) => [name, lockedPackage(name)]))
  return {
    manifest: JSON.stringify({ name: 'runtimes', private: true, dependencies }),
    lock: JSON.stringify({
      lockfileVersion: lock.lockfileVersion,
      workspaces: { '': { name: 'runtimes', dependencies } },
      packages: locked,
    }),
  }
}

function lockedPackage(name: string) {
  const entry = lock.packages[name]
  if (entry?.[0] !== `${name}@${PINNED}` || !entry[3]?.startsWith('sha512-'))
    throw new Error(`bun.lock has no sha512 of ${name}@${PINNED}`)
  return entry
}

/** A folder of the final name has been verified: it gets that name when all is in place. */
async function install(project: { manifest: string; lock: string }, folder: string) {
  mkdirSync(CACHE, { recursive: true })
  const draft = mkdtempSync(join(CACHE, 'draft-'))
  try {
    await Bun.write(join(draft, 'package.json'), project.manifest)
    await Bun.write(join(draft, 'bun.lock'), project.lock)
    for (const settings of ['bunfig.toml', '.npmrc'])
      if (existsSync(join(ROOT, settings))) symlinkSync(join(ROOT, settings), join(draft, settings))
    await runInstall(draft)
    renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Into an empty cache: a package that was unpacked before is not checked again. */
async function runInstall(cwd: string) {
  const packages = join(cwd, 'packages')
  const command = [
    ...[process.execPath, 'install', '--frozen-lockfile', '--ignore-scripts', '--no-progress'],
    ...['--os=*', '--cpu=*', `--cache-dir=${packages}`, '--backend=copyfile'],
  ]
  const child = Bun.spawn(command, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
  if ((await child.exited) !== 0) throw new Error('the runtimes cannot be installed')
  rmSync(packages, { recursive: true, force: true })
}
