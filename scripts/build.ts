/**
 * Compiles the executable: `bun run build`. Not minified, which would break the framework's
 * reading of its handlers and save next to nothing. What lies in the directory where it is
 * started must not change it, so it loads neither .env nor bunfig there.
 */
import { mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dir, '..')

/** The one module that runs: whatever else the executable starts is the executable itself. */
const ENTRYPOINT = 'src/main.ts'

interface Compilation {
  outfile: string
  commit: string
  /** Another program to compile just as this one. */
  entrypoint?: string
  /** Another machine's Bun to compile for, as a file, so that nothing is fetched here. */
  runtime?: { target: Bun.Build.CompileTarget; executablePath: string }
}

/**
 * Bundles the sources and joins them with a runtime: with the one that runs this, if none is given.
 * The file appears whole, so that one that runs can be replaced.
 */
export async function compile(compilation: Compilation): Promise<void> {
  const { outfile, commit, entrypoint = ENTRYPOINT, runtime } = compilation
  mkdirSync(dirname(outfile), { recursive: true })
  // The bundle names each source by its path from here: the same bytes wherever this is started.
  process.chdir(root)
  const unfinished = `${outfile}.${process.pid}`
  await Bun.build({
    entrypoints: [entrypoint],
    target: 'bun',
    define: {
      GATEHOUSE_COMMIT: JSON.stringify(commit),
      // Else the framework writes the whole of a refused body into each validation error.
      'process.env.NODE_ENV': '"production"',
    },
    compile: {
      ...runtime,
      outfile: unfinished,
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  })
  renameSync(unfinished, outfile)
}

/** From the environment where there is no checkout or no git, as when an image is built. */
function commitOfBuild(): string {
  if (process.env.GATEHOUSE_COMMIT) return process.env.GATEHOUSE_COMMIT
  if (!Bun.which('git')) return 'unknown'
  const git = Bun.spawnSync(['git', 'rev-parse', '--short=12', 'HEAD'], { cwd: root })
  return git.exitCode === 0 ? git.stdout.toString().trim() : 'unknown'
}

if (import.meta.main) {
  const outfile = join(root, 'dist', 'gatehouse')
  await compile({ outfile, commit: commitOfBuild() })
  console.log(`built ${outfile}`)
}
