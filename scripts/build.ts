/**
 * Compiles the executable: `bun run build`. It has bytecode, in a chunk for each part that a command
 * loads, so that it starts without parsing its sources. Not minified, which would save next to
 * nothing and let the framework misread its handlers. What lies in the directory where it is
 * started must not change it, so it loads neither .env nor bunfig there.
 */
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { packed, requireAscii, smaller } from './smaller.ts'
import { contentsOf } from './third-party/components.ts'
import { noticesText } from './third-party/notices.ts'
import { ROOT } from './third-party/packages.ts'
import { sbomText } from './third-party/sbom.ts'

const { version } = manifest

/** The one module that runs: whatever else the executable starts is the executable itself. */
const ENTRYPOINT = 'src/main.ts'

interface Compilation {
  outfile: string
  commit: string
  /** When the commit was made, in seconds. */
  time?: number
  /** Another program to compile just as this one. */
  entrypoint?: string
  /** Another machine's Bun to compile for, as a file, so that nothing is fetched here. */
  runtime?: { target: Bun.Build.CompileTarget; executablePath: string; packageName: string }
}

/**
 * How many times later than usual functions are compiled to machine code, until the server listens:
 * most of what a start runs does not run again.
 */
const START_JIT_POLICY = 32

/** The functions that a start uses, which `bun run bytecode-order` records. */
export const BYTECODE_ORDER = join(import.meta.dir, 'bytecode-order.txt')

/** What goes wherever the executable goes, by the names of the files. */
export interface Companions {
  'THIRD-PARTY-NOTICES': string
  'gatehouse.cdx.json': string
}

/** What the bundle is made of, whether it becomes an executable or not. */
function bundle(entrypoint: string, constants: { commit: string; notices: string }) {
  requirePinnedBun()
  // The bundle names each source by its path from here: the same bytes wherever this is started.
  process.chdir(ROOT)
  return {
    entrypoints: [entrypoint],
    target: 'bun' as const,
    format: 'esm' as const,
    splitting: true,
    plugins: [smaller],
    // The framework reads uploaded files with it, which no route has.
    external: ['file-type'],
    define: {
      GATEHOUSE_COMMIT: JSON.stringify(constants.commit),
      GATEHOUSE_NOTICES: JSON.stringify(packed(constants.notices)),
      // Else the framework writes the whole of a refused body into each validation error.
      'process.env.NODE_ENV': '"production"',
    },
  }
}

/**
 * Bundles the sources and joins them with a runtime: with the one that runs this, if none is given.
 * The file appears whole, so that one that runs can be replaced. Throws where the licence of
 * something in it is not allowed or has no text.
 */
export async function compile(compilation: Compilation): Promise<Companions> {
  const { outfile, commit, time, entrypoint = ENTRYPOINT, runtime } = compilation
  const contents = await readContents(entrypoint, runtime?.packageName)
  const notices = noticesText(version, contents.components)
  // An executable has its own file name in it: the same for all, and in a folder until it is whole.
  const draft = `${outfile}.${process.pid}`
  const unfinished = join(draft, 'gatehouse')
  mkdirSync(draft, { recursive: true })
  await Bun.build({
    ...bundle(entrypoint, { commit, notices }),
    bytecode: true,
    compile: {
      ...(runtime && { target: runtime.target, executablePath: runtime.executablePath }),
      outfile: unfinished,
      jitPolicy: START_JIT_POLICY,
      bytecodeOrder: BYTECODE_ORDER,
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  })
  renameSync(unfinished, outfile)
  rmSync(draft, { recursive: true })
  const sha256 = new Bun.CryptoHasher('sha256').update(readFileSync(outfile)).digest('hex')
  const sbom = sbomText({ version, commit, time, sha256 }, contents)
  return { 'THIRD-PARTY-NOTICES': notices, 'gatehouse.cdx.json': sbom }
}

/** What the executable contains, as the bundler finds it. */
export async function readContents(entrypoint = ENTRYPOINT, runtime?: string) {
  const { metafile, outputs } = await Bun.build({
    ...bundle(entrypoint, { commit: '', notices: '' }),
    metafile: true,
  })
  if (!metafile) throw new Error('the bundler does not say what it has bundled')
  await requireAscii(outputs)
  return contentsOf(metafile, runtime)
}

/** The notices of the executable, without compiling it. */
export const readNotices = async (): Promise<string> =>
  noticesText(version, (await readContents()).components)

/** Another version bundles otherwise, and would be another runtime than the one on the bill. */
function requirePinnedBun() {
  const pinned = manifest.devDependencies.bun
  if (Bun.version !== pinned)
    throw new Error(
      `This is Bun ${Bun.version}. Gatehouse is compiled with ${pinned}: npx -y bun@${pinned} run build`,
    )
}

/** From the environment where there is no checkout or no git, as when an image is built. */
function commitOfBuild(): string {
  if (process.env.GATEHOUSE_COMMIT) return process.env.GATEHOUSE_COMMIT
  if (!Bun.which('git')) return 'unknown'
  const git = Bun.spawnSync(['git', 'rev-parse', '--short=12', 'HEAD'], { cwd: ROOT })
  return git.exitCode === 0 ? git.stdout.toString().trim() : 'unknown'
}

async function build() {
  const folder = join(ROOT, 'dist')
  const outfile = join(folder, 'gatehouse')
  const companions = await compile({ outfile, commit: commitOfBuild() })
  for (const [name, text] of Object.entries(companions)) await Bun.write(join(folder, name), text)
  console.log(`built ${outfile}`)
}

if (import.meta.main)
  await build().catch((error) => {
    // The bundler has many reasons, each with its place; ours is one sentence.
    const plain = error instanceof Error && !(error instanceof AggregateError)
    console.error(plain ? error.message : error)
    process.exit(1)
  })
