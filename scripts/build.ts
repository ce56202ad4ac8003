/**
 * Compiles the executable: `bun run build`. Not minified, which would break the framework's
 * reading of its handlers and save next to nothing. What lies in the directory where it is
 * started must not change it, so it loads neither .env nor bunfig there.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')
const outfile = join(root, 'dist', 'gatehouse')

/** Empty outside a checkout, as in an image that is built from a source archive. */
function commit(): string {
  const { exitCode, stdout } = Bun.spawnSync(['git', 'rev-parse', '--short=12', 'HEAD'], {
    cwd: root,
  })
  return exitCode === 0 ? stdout.toString().trim() : 'unknown'
}

mkdirSync(join(root, 'dist'), { recursive: true })
const built = await Bun.build({
  entrypoints: [join(root, 'src', 'main.ts')],
  target: 'bun',
  define: { GATEHOUSE_COMMIT: JSON.stringify(commit()) },
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
