import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'

/** What lies beside the executable, where it is in the repository, so that links lead on. */
const COMPANIONS = [
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
  outfile: string
  /** Of the commit, in seconds. Every file gets it, so that the same commit gives the same bytes. */
  time: number
}

/** A folder named as the executable is, with `gatehouse` and all that is to be read about it. */
export async function writeArchive({ root, executable, outfile, time }: Archive): Promise<void> {
  const folder = basename(executable)
  const common = { mtime: new Date(time * 1000) }
  const archive = pack()
  const add = (name: string, mode: number, file: string) =>
    archive.entry({ ...common, name: `${folder}/${name}`, mode }, readFileSync(file))
  add('gatehouse', 0o755, executable)
  for (const path of COMPANIONS.flatMap((path) => filesAt(root, path)))
    add(path, 0o644, join(root, path))
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
