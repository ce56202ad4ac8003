/**
 * Compiles the executable: `bun run build`. Not minified, which would break the framework's
 * reading of its handlers and save next to nothing. What lies in the directory where it is
 * started must not change it, so it loads neither .env nor bunfig there.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')
const outfile = join(root, 'dist', 'gatehouse')

/** From the environment where there is no checkout or no git, as when an image is built. */
function commit(): string {
  if (process.env.GATEHOUSE_COMMIT) return process.env.GATEHOUSE_COMMIT
  if (!Bun.which('git')) return 'unknown'
  const git = Bun.spawnSync(['git', 'rev-parse', '--short=12', 'HEAD'], { cwd: root })
  return git.exitCode === 0 ? git.stdout.toString().trim() : 'unknown'
}

mkdirSync(join(root, 'dist'), { recursive: true })
const built = await Bun.build({
  entrypoints: [join(root, 'src', 'main.ts')],
  target: 'bun',
  define: {
    GATEHOUSE_COMMIT: JSON.stringify(commit()),
    // Else the framework writes the whole of a refused body into each validation error.
    'process.env.NODE_ENV': '"production"',
  },
  compile: {
    outfile,
    autoloadDotenv: false,
    autoloadBunfig: false,
    autoloadTsconfig: false,
    autoloadPackageJson: false,
  },
})
if (!built.success) {
  console.error(built.logs.join('\n'))
  process.exit(1)
}
console.log(`built ${outfile}`)
