/**
 * Makes what a release is handed out as: `bun run release [--target NAME]… [--out DIR] [--tag TAG]`.
 * An executable, an archive, the notices and the bill of materials for each target, and their
 * checksums, in place of those that an earlier release left there. The same commit gives the same bytes. With a tag, it has to be the version's, the changelog has to have a dated section for it,
 * and that section is written beside as the text of the release.
 */
import { statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { type Companions, compile } from './build.ts'
import { writeArchive } from './release/archive.ts'
import { checksums } from './release/checksums.ts'
import { removeEarlier } from './release/earlier.ts'
import { inspect } from './release/inspect.ts'
import { fetchRuntimes } from './release/runtimes.ts'
import { smoke } from './release/smoke.ts'
import { changelogSection, readCommit, tagErrors } from './release/source.ts'
import { chooseTargets, isNative, type Target } from './release/targets.ts'

const ROOT = join(import.meta.dir, '..')
const { version } = manifest

const options = () =>
  parseArgs({
    options: {
      target: { type: 'string', multiple: true, default: [] },
      out: { type: 'string', default: join(ROOT, 'dist', 'release') },
      tag: { type: 'string' },
      'allow-dirty': { type: 'boolean', default: false },
    },
  }).values

/** The text of the release, if the tag is right. */
async function notesOf(tag: string) {
  const changelog = await Bun.file(join(ROOT, 'CHANGELOG.md')).text()
  const errors = tagErrors(tag, version, changelog)
  if (errors.length > 0) throw new Error(errors.join('\n'))
  return `${changelogSection(changelog, version)?.text}\n`
}

async function tryOut(target: Target, executable: string) {
  if (!isNative(target)) return 'not started: it is for another machine'
  await smoke(executable, version)
  return 'works'
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

interface Making {
  out: string
  commit: { name: string; time: number }
  executablePath: string
}

/** The files of a target. */
async function makeTarget(target: Target, { out, commit, executablePath }: Making) {
  const outfile = join(out, `gatehouse-${version}-${target.name}`)
  const archive = `${outfile}.tar.gz`
  const { name, time } = commit
  const { compileFor, runtime: packageName } = target
  const runtime = { target: compileFor, executablePath, packageName }
  const companions = await compile({ outfile, commit: name, time, runtime })
  const { format, bytes } = inspect(outfile, target, name)
  const outcome = await tryOut(target, outfile)
  await writeArchive({ root: ROOT, executable: outfile, companions, outfile: archive, time })
  const sizes = `${megabytes(bytes)}, archive ${megabytes(statSync(archive).size)}`
  console.log(`${basename(outfile)}: ${format}, ${sizes}; ${outcome}`)
  return [outfile, archive, ...(await writeBeside(outfile, companions))]
}

/** Under the name of the executable, with an ending: `.THIRD-PARTY-NOTICES`, `.cdx.json`. */
async function writeBeside(outfile: string, companions: Companions): Promise<string[]> {
  const files = Object.entries(companions).map(([name, text]) => ({
    file: `${outfile}.${name.replace(/^gatehouse\./, '')}`,
    text,
  }))
  for (const { file, text } of files) await Bun.write(file, text)
  return files.map(({ file }) => file)
}

async function release() {
  const { target: names, out: given, tag, 'allow-dirty': allowDirty } = options()
  const targets = chooseTargets(names)
  const out = resolve(given)
  const commit = await readCommit(ROOT, { allowDirty })
  const notes = tag === undefined ? undefined : await notesOf(tag)
  const runtimeOf = await fetchRuntimes(targets)
  removeEarlier(out)
  if (notes !== undefined) await Bun.write(join(out, 'NOTES.md'), notes)

  const files: string[] = []
  for (const target of targets)
    files.push(...(await makeTarget(target, { out, commit, executablePath: runtimeOf(target) })))
  await Bun.write(join(out, 'SHA256SUMS'), checksums(files))
  console.log(`release ${version} of ${commit.name} in ${out}`)
}

try {
  await release()
} catch (error) {
  // A build that fails has many reasons, each with its place.
  const plain = error instanceof Error && !(error instanceof AggregateError)
  console.error(plain ? error.message : error)
  process.exit(1)
}
