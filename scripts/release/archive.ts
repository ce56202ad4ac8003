import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import type { Companions } from '../build.ts'

/** What lies beside the executable, where it is in the repository, so that links lead on. */
const FROM_REPOSITORY = [
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'README.md',
  'compose.example.yaml',
  'docs',
  'gatehouse.example.toml',
]

interface Archive {
  root: string
  executable: string
  /** What was made along with the executable. */
  companions: Companions
  outfile: string
  /** Of the commit, in seconds. Every file gets it, so that the same commit gives the same bytes. */
  time: number
}

/** A folder named as the executable is, with `gatehouse` and all that is to be read about it. */
export async function writeArchive(parts: Archive): Promise<void> {
  const { root, executable, companions, outfile, time } = parts
  const folder = basename(executable)
  const common = { mtime: new Date(time * 1000) }
  const archive = pack()
  const add = (name: string, mode: number, content: Buffer | string) =>
    archive.entry({ ...common, name: `${folder}/${name}`, mode }, content)
  add('gatehouse', 0o755, readFileSync(executable))
  for (const [name, text] of Object.entries(companions)) add(name, 0o644, text)
  for (const path of FROM_REPOSITORY.flatMap((path) => filesAt(root, path)))
    add(path, 0o644, readFileSync(join(root, path)))
  archive.finalize()
  const tar = await buffer(archive)
  await Bun.write(outfile, Bun.gzipSync(tar, { library: 'libdeflate', level: 9 }))
}

/** Those of a folder in the order of their names: a disk has one of its own. */
function filesAt(root: string, path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path]
  const names = readdirSync(join(root, path)).sort()
  return names.flatMap((name) => filesAt(root, `${path}/${name}`))
}
