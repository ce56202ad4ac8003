import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'

/** What lies beside the executable, by its path in the repository. */
const COMPANIONS = ['LICENSE', 'README.md', 'gatehouse.example.toml', 'docs/gatehouse.service']

interface Archive {
  root: string
  executable: string
  outfile: string
  /** Of the commit, in seconds. Every file gets it, so that the same commit gives the same bytes. */
  time: number
}

/** A folder named as the executable is, with `gatehouse` and what it needs to be installed. */
export async function writeArchive({ root, executable, outfile, time }: Archive): Promise<void> {
  const folder = basename(executable)
  const common = { mtime: new Date(time * 1000) }
  const archive = pack()
  const add = (name: string, mode: number, file: string) =>
    archive.entry({ ...common, name: `${folder}/${name}`, mode }, readFileSync(file))
  add('gatehouse', 0o755, executable)
  for (const path of COMPANIONS.map((path) => join(root, path)).filter(existsSync))
    add(basename(path), 0o644, path)
  archive.finalize()
  const tar = await buffer(archive)
  await Bun.write(outfile, Bun.gzipSync(tar, { library: 'libdeflate', level: 9 }))
}
