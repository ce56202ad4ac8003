import { join } from 'node:path'
import lock from '../../bun.lock'

export const ROOT = join(import.meta.dir, '..', '..')

/** A package of the lock file that a bundle has code or files of. */
export interface Package {
  name: string
  version: string
  /** Where it is installed, from the root of the repository. */
  folder: string
  /** The files of it that are in the bundle, from the root of the repository. */
  modules: string[]
  /** The hash of its archive, as the lock file has it: `sha512-` and base64. */
  integrity: string
  /** The folders of the packages that its modules import. */
  imports: string[]
}

interface Bundled {
  packages: Package[]
  /** The folders of the packages that our own modules import. */
  imports: string[]
}

/** The part of a path that names an installed package; undefined for our own files. */
const folderOf = (path: string): string | undefined =>
  /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0]

/** The packages whose files a bundler has put into a bundle, and what imports what, both sorted. */
export function bundledPackages(metafile: Bun.BuildMetafile): Bundled {
  const modules = new Map<string | undefined, string[]>()
  const imports = new Map<string | undefined, Set<string>>()
  for (const [path, input] of Object.entries(metafile.inputs)) {
    const folder = folderOf(path)
    modules.set(folder, [...(modules.get(folder) ?? []), path])
    const known = imports.get(folder) ?? new Set()
    imports.set(folder, known)
    for (const { path } of input.imports) {
      const imported = folderOf(path)
      if (imported !== undefined && imported !== folder) known.add(imported)
    }
  }
  const importsOf = (folder: string | undefined) => [...(imports.get(folder) ?? [])].sort()
  const folders = [...modules.keys()].filter((folder) => folder !== undefined).sort()
  const packages = folders.map((folder) => ({
    ...lockedPackage(folder.replaceAll(/(?<=^|\/)node_modules\//g, '')),
    folder,
    modules: (modules.get(folder) ?? []).sort(),
    imports: importsOf(folder),
  }))
  return { packages, imports: importsOf(undefined) }
}

/** What the lock file has under this key: the path of a package without `node_modules`. */
export function lockedPackage(key: string): Pick<Package, 'name' | 'version' | 'integrity'> {
  const [id = '', , , integrity] = lock.packages[key] ?? []
  const at = id.lastIndexOf('@')
  if (at < 1 || !`${integrity}`.startsWith('sha512-'))
    throw new Error(`bun.lock has no sha512 of ${key}`)
  return { name: id.slice(0, at), version: id.slice(at + 1), integrity: `${integrity}` }
}
