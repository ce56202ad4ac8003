import { cpSync, existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { outputOf } from './processes.ts'

const ROOT = join(import.meta.dir, '..', '..')
const LEFT_OUT = ['.git', 'node_modules', 'dist']
const MIGRATION = `CREATE TABLE rig_upgrade (id TEXT PRIMARY KEY, note TEXT NOT NULL) STRICT;
ALTER TABLE tenants ADD COLUMN rig_note TEXT;
`

/** Compiles this checkout with one more migration, in a folder. Returns the executable. */
export async function buildNextVersion(folder: string): Promise<string> {
  const copy = join(folder, 'next')
  const executable = join(copy, 'dist', 'gatehouse')
  const given = { cwd: folder, env: process.env }
  if (existsSync(executable)) return executable
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !LEFT_OUT.includes(basename(path)) })
  // The build compares the paths of packages with the lock file, so that links to them won't do.
  await outputOf(['cp', '-al', join(ROOT, 'node_modules'), copy], given)
  await Bun.write(join(copy, 'drizzle', '9999_rig.sql'), MIGRATION)
  const index = join(copy, 'drizzle', 'index.ts')
  const listed = (await Bun.file(index).text())
    .replace(
      '\nexport const',
      "import m9999 from './9999_rig.sql' with { type: 'text' }\n\nexport const",
    )
    .replace(/\]\s*$/, "  { id: '9999_rig', sql: m9999 },\n]\n")
  await Bun.write(index, listed)
  await outputOf([process.execPath, 'scripts/build.ts'], { ...given, cwd: copy })
  return executable
}
